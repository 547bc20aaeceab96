//! Composes the live region and paints frames.

use std::io;
use std::time::{Duration, Instant};

use reyn_terminal::{Colour, Line, Live, MarkdownStream, Style, wrap};

use super::{Front, Kind, RESIZE_QUIET_MS, SPIN_MS};

/// Rows of the input at most.
const INPUT_ROWS_MAX: usize = 12;
/// Messages that wait which are shown one by one.
const QUEUED_ROWS_MAX: usize = 3;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

impl Front {
    /// Shows everything that changed.
    pub(super) fn paint(&mut self) -> io::Result<()> {
        let now = Instant::now();
        self.hint = self.hint.take().filter(|hint| hint.until > now);
        self.take_lone_letter(now);
        self.arm_question(now);
        // A frame for a size that the terminal no longer has would be painted over what is there.
        if let Ok((columns, rows)) = reyn_terminal::size()
            && (usize::from(columns), usize::from(rows)) != (self.screen.columns(), self.screen.rows())
            && self
                .resized
                .is_none_or(|(old_columns, old_rows, _)| (old_columns, old_rows) != (columns, rows))
        {
            self.resized = Some((columns, rows, now));
        }
        if let Some((columns, rows, at)) = self.resized {
            if now.saturating_duration_since(at) < Duration::from_millis(RESIZE_QUIET_MS) {
                // Where things are is not known before the size is taken on.
                return Ok(());
            }
            self.resized = None;
            self.take_size(columns.into(), rows.into())?;
        }
        self.last_frame = now;
        if self.page.is_some() {
            return self.paint_page();
        }
        let live = self.live();
        let printed = std::mem::take(&mut self.printed);
        self.screen.paint(&printed, &live)
    }

    fn take_size(&mut self, columns: usize, rows: usize) -> io::Result<()> {
        if let Some(stream) = &mut self.stream {
            stream.set_columns(columns.max(1));
        }
        self.disarm_question();
        let is_paging = self.page.is_some();
        if is_paging {
            self.screen.leave_page()?;
        }
        let live = self.live_for(columns.max(1), rows.max(1));
        self.screen.resize(columns, rows, &live)
    }

    pub(super) fn live(&self) -> Live {
        self.live_for(self.screen.columns(), self.screen.rows())
    }

    /// The live region for a size. Where there is no room for everything, the input stays, then the
    /// question, what runs, the status, what waits, and last the answer's unfinished end.
    fn live_for(&self, columns: usize, rows: usize) -> Live {
        let prompt = self.asking.as_ref().map_or("› ", |asking| asking.prompt());
        let input_rows_max = if self.asking.is_some() { 1 } else { (rows / 2).clamp(1, INPUT_ROWS_MAX) };
        let input = self.editor.layout(prompt, columns, input_rows_max);
        let mut room = rows.saturating_sub(input.rows.len());
        let mut take = |lines: Vec<Line>, is_end: bool| -> Vec<Line> {
            let count = lines.len().min(room);
            room -= count;
            if is_end { lines[lines.len() - count..].to_vec() } else { lines[..count].to_vec() }
        };
        let mut question = self.question_rows(columns);
        if question.len() >= rows {
            question = vec![one_row(&Line::plain("make it larger to see a question"), columns)];
        }
        let question = take(question, false);
        let busy = take(self.busy_row(columns).into_iter().collect(), false);
        let below = take(
            if !input.menu.is_empty() {
                input.menu
            } else if let Some(hint) = &self.hint {
                vec![hint.line.clone()]
            } else {
                vec![self.status.line(columns)]
            },
            false,
        );
        let queued = take(self.queued_rows(columns), false);
        let tail = take(self.stream.as_ref().map_or_else(Vec::new, MarkdownStream::tail), true);
        // The conversation and the input stand apart.
        let gap = if self.last == Kind::Nothing { vec![] } else { take(vec![Line::new()], false) };
        let above: Vec<Line> = [tail, gap, busy, queued, question].concat();
        let caret = (above.len() + input.caret.0, input.caret.1);
        Live { rows: [above, input.rows, below].concat(), caret: Some(caret) }
    }

    /// What runs, for how long, and how it is stopped.
    fn busy_row(&self, columns: usize) -> Option<Line> {
        let busy = self.busy.as_ref()?;
        if self.asking.is_some() {
            return None;
        }
        let elapsed = busy.since.elapsed();
        let at = usize::try_from(elapsed.as_millis() / u128::from(SPIN_MS)).unwrap_or(0) % SPINNER.len();
        let mut line = Line::styled(SPINNER[at], Style::of(Colour::Cyan));
        let (what, end) = if busy.is_leaving {
            ("leaving", " · again leaves at once".to_owned())
        } else if busy.is_cancelling {
            ("stopping", " · again leaves".to_owned())
        } else {
            (busy.what.as_str(), format!(" · {} · esc stops", duration(elapsed)))
        };
        line.push(" ", Style::PLAIN);
        let room = columns.saturating_sub(line.width() + reyn_terminal::cell_width(&end));
        line.append(&one_row(&Line::plain(what), room));
        line.push(&end, Style::DIM);
        Some(line)
    }

    fn queued_rows(&self, columns: usize) -> Vec<Line> {
        let shown = self.queued.iter().take(QUEUED_ROWS_MAX).map(|text| {
            let first = text.lines().next().unwrap_or_default();
            one_row(&Line::styled(&format!("  next: {first}"), Style::DIM), columns)
        });
        let mut rows: Vec<Line> = shown.collect();
        let rest = self.queued.len().saturating_sub(QUEUED_ROWS_MAX);
        if rest > 0 {
            rows.push(Line::styled(&format!("  … {rest} more"), Style::DIM));
        }
        rows
    }
}

/// A line cut to one row, with a mark where it is cut.
pub(super) fn one_row(line: &Line, columns: usize) -> Line {
    if line.width() <= columns {
        return line.clone();
    }
    if columns < 2 {
        return Line::new();
    }
    let mut row = wrap(line, columns - 1, 0).into_iter().next().unwrap_or_default();
    row.push("…", Style::DIM);
    row
}

/// A time as people say it: `3 s`, `2 min 5 s`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_to_its_row_with_a_mark() {
        let cut = |text: &str, columns| one_row(&Line::plain(text), columns).text();
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("read_file a/very/long/path", 12), "read_file…");
        assert_eq!(cut("日本語の名前", 6), "日本…");
        assert_eq!(cut("abc", 1), "");
    }

    #[test]
    fn times_are_said_in_minutes_when_they_are_long() {
        let said = [9, 125].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(said, ["9 s", "2 min 5 s"]);
    }
}
