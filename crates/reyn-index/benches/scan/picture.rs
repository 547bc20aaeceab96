//! Lines over rows as a picture, both axes logarithmic.

use std::fmt::Write as _;

/// One part of the picture.
pub(crate) struct Panel<'a> {
    pub(crate) title: &'a str,
    pub(crate) lines: Vec<Line<'a>>,
}

pub(crate) struct Line<'a> {
    pub(crate) name: &'a str,
    pub(crate) colour: &'a str,
    /// Rows and what they cost.
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 40.0;
const BELOW: f64 = 100.0;

/// The panels side by side.
pub(crate) fn svg(panels: &[Panel<'_>]) -> String {
    let width = panels.len() as f64 * (WIDTH + LEFT + 24.0);
    let height = TOP + HEIGHT + BELOW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (at, panel) in panels.iter().enumerate() {
        let left = at as f64 * (WIDTH + LEFT + 24.0) + LEFT;
        draw(&mut svg, panel, left);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &Panel<'_>, left: f64) {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let bounds = |of: fn(&(f64, f64)) -> f64| {
        let least = points().map(of).fold(f64::INFINITY, f64::min).log10().floor();
        let most = points().map(of).fold(0.0, f64::max).log10().ceil();
        (least, most.max(least + 1.0))
    };
    let (across, up) = (bounds(|point| point.0), bounds(|point| point.1));
    let x = |rows: f64| left + (rows.log10() - across.0) / (across.1 - across.0) * WIDTH;
    let y = |cost: f64| TOP + HEIGHT - (cost.log10() - up.0) / (up.1 - up.0) * HEIGHT;
    writeln!(svg, "<text x=\"{left}\" y=\"24\" font-size=\"14\">{}</text>", panel.title).unwrap();
    for power in across.0 as i32..=across.1 as i32 {
        let (at, bottom) = (x(10_f64.powi(power)), TOP + HEIGHT);
        writeln!(svg, "<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>").unwrap();
        writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            short(power)
        )
        .unwrap();
    }
    for power in up.0 as i32..=up.1 as i32 {
        let at = y(10_f64.powi(power));
        writeln!(svg, "<path d=\"M{left} {at:.1}h{WIDTH}\" stroke=\"#ddd\"/>").unwrap();
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            at + 4.0,
            short(power)
        )
        .unwrap();
    }
    for (at, line) in panel.lines.iter().enumerate() {
        let path: Vec<String> =
            line.points.iter().map(|(rows, cost)| format!("{:.1},{:.1}", x(*rows), y(*cost))).collect();
        let colour = line.colour;
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        )
        .unwrap();
        for (rows, cost) in &line.points {
            writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(*rows),
                y(*cost)
            )
            .unwrap();
        }
        let (column, row) = ((at % 2) as f64, (at / 2) as f64);
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">● {}</text>",
            left + column * WIDTH / 2.0,
            TOP + HEIGHT + 40.0 + row * 18.0,
            line.name
        )
        .unwrap();
    }
}

/// A power of ten as people write it.
fn short(power: i32) -> String {
    match power {
        6.. => format!("{} M", 10_i64.pow(power.unsigned_abs() - 6)),
        3.. => format!("{} k", 10_i64.pow(power.unsigned_abs() - 3)),
        0.. => 10_i64.pow(power.unsigned_abs()).to_string(),
        ..0 => format!("{}", 10_f64.powi(power)),
    }
}
