//! From the lines of a block to rows in what the block stands in.

use super::Blocks;
use crate::line::Line;
use crate::markdown::frame::{Container, Frame, blank};
use crate::wrap::{chop, wrap};

/// Columns that code is indented.
const CODE_INSET: usize = 2;

impl Blocks {
    pub(super) fn frame(&self) -> Frame {
        Frame::of(&self.containers, self.columns)
    }

    /// Shows lines of text.
    pub(super) fn put(&mut self, lines: &[Line], out: &mut Vec<Line>) {
        self.put_rows(out, |frame| {
            let mut rows = Vec::with_capacity(lines.len());
            for (at, line) in lines.iter().enumerate() {
                if at == 0 && frame.is_flat() && !frame.first.is_empty() {
                    let mut marked = frame.first.clone();
                    marked.append(line);
                    rows.extend(wrap(&marked, frame.room, 0));
                } else {
                    rows.extend(wrap(line, frame.room, 0));
                }
            }
            rows
        });
    }

    /// Shows a line of code.
    pub(super) fn code(&mut self, line: &Line, out: &mut Vec<Line>) {
        self.put_rows(out, |frame| {
            let inset = if frame.room > 2 * CODE_INSET { CODE_INSET } else { 0 };
            let mut marked = if frame.is_flat() { frame.first.clone() } else { Line::new() };
            marked.append(line);
            let rows = chop(&marked, frame.room - inset).into_iter();
            rows.map(|row| {
                let mut indented = Line::plain(&" ".repeat(inset));
                indented.append(&row);
                indented
            })
            .collect()
        });
    }

    /// Shows rows in the frame of the containers, after the blank line that is due.
    fn put_rows(&mut self, out: &mut Vec<Line>, rows: impl FnOnce(&Frame) -> Vec<Line>) {
        let frame = self.frame();
        let rows = rows(&frame);
        if rows.is_empty() {
            return;
        }
        if let Some(depth) = self.gap.take().filter(|_| self.has_output) {
            let depth = depth.min(self.containers.len());
            out.push(blank(&self.containers[..depth], self.columns));
        }
        for (at, mut row) in rows.into_iter().enumerate() {
            if !frame.is_flat() {
                let mut line = if at == 0 { frame.first.clone() } else { frame.rest.clone() };
                line.append(&row);
                row = line;
            }
            row.trim_end();
            out.push(row);
        }
        self.has_output = true;
        for container in &mut self.containers {
            if let Container::Item(item) = container {
                item.is_shown = true;
            }
        }
    }
}
