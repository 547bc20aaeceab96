//! Tables of data as rows of Markdown.

use dom_query::NodeRef;

use crate::bounds::TABLE_COLUMNS_MAX;

/// The rows of a table with the line under its head; None when it is there for the layout of a page: a table in
/// it, less than two rows or columns, or more columns than [`TABLE_COLUMNS_MAX`].
///
/// A head is the first row, since Markdown has no table without one. Short rows are filled.
pub(super) fn rows(table: &NodeRef<'_>) -> Option<Vec<String>> {
    let mut rows = vec![];
    let row_nodes: Vec<NodeRef<'_>> = table.descendants_it().filter(|node| node.has_name("tr")).collect();
    if row_nodes.len() < 2 || table.descendants_it().any(|node| node.has_name("table")) {
        return None;
    }
    let columns = row_nodes.iter().map(|row| cells_of(row).count()).max().unwrap_or(0);
    if !(2..=TABLE_COLUMNS_MAX).contains(&columns) {
        return None;
    }
    if let Some(caption) = table.descendants_it().find(|node| node.has_name("caption")) {
        let caption = super::inline(&caption);
        if !caption.is_empty() {
            rows.push(caption);
        }
    }
    let mut has_head = false;
    for row in &row_nodes {
        let mut cells: Vec<String> =
            cells_of(row).map(|cell| super::inline(&cell).replace('|', "\\|")).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        cells.resize(columns, String::new());
        rows.push(format!("| {} |", cells.join(" | ")));
        if !has_head {
            rows.push(format!("|{}", " --- |".repeat(columns)));
            has_head = true;
        }
    }
    has_head.then_some(rows)
}

fn cells_of<'a>(row: &NodeRef<'a>) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
    row.children_it(false).filter(|cell| cell.has_name("td") || cell.has_name("th"))
}
