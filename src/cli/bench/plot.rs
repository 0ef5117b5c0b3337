//! The latencies of a run as a picture: one curve for each kind of operation, over the percentiles.

use super::mix::Kind;
use super::record::Record;

/// The size of the picture, and the edges of the area of the curves in it.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 928.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 492.0;
/// Points of a curve for each further nine.
const POINTS: u32 = 50;
/// The curves end at 99.9999 %.
const MOST_NINES: f64 = 6.0;
/// Colours that people with any colour vision tell apart (M. Okabe and K. Ito, 2008).
const COLOURS: [&str; Kind::ALL.len()] = ["#d55e00", "#cc79a7", "#0072b2", "#009e73", "#e69f00", "#56b4e9"];

/// The picture as SVG.
pub(super) fn svg(title: &str, record: &Record) -> String {
    let curves = Kind::ALL.map(|kind| (kind, curve(record, kind)));
    let points = || curves.iter().flat_map(|(_, curve)| curve);
    let widest = points().map(|(nines, _)| *nines).fold(1.0, f64::max);
    // From one power of ten to another.
    let lowest = points().map(|(_, decades)| decades.floor()).fold(f64::INFINITY, f64::min).min(0.0);
    let highest = points().map(|(_, decades)| decades.ceil()).fold(lowest + 1.0, f64::max);
    let x = |nines: f64| LEFT + nines / widest * (RIGHT - LEFT);
    let y = |decades: f64| BOTTOM - (decades - lowest) / (highest - lowest) * (BOTTOM - TOP);
    let text = |x: f64, y: f64, anchor: &str, colour: &str, text: &str| {
        format!("<text x='{x:.1}' y='{y:.1}' text-anchor='{anchor}' fill='{colour}'>{text}</text>")
    };
    let path = |points: &[(f64, f64)], colour: &str| {
        let points: Vec<_> =
            points.iter().map(|(nines, decades)| format!("{:.1},{:.1}", x(*nines), y(*decades))).collect();
        format!("<polyline points='{}' fill='none' stroke='{colour}' stroke-width='2'/>", points.join(" "))
    };
    let mut parts = vec![text(WIDTH / 2.0, 28.0, "middle", "black", title)];
    for nines in (0..=widest as u32).map(f64::from) {
        parts.push(path(&[(nines, lowest), (nines, highest)], "#ddd"));
        let digits = (nines as usize).saturating_sub(2);
        let percentile = format!("{:.digits$} %", 100.0 * (1.0 - 10_f64.powf(-nines)));
        parts.push(text(x(nines), BOTTOM + 20.0, "middle", "black", &percentile));
    }
    for decades in (lowest as i32..=highest as i32).map(f64::from) {
        parts.push(path(&[(0.0, decades), (widest, decades)], "#ddd"));
        parts.push(text(LEFT - 8.0, y(decades) + 4.0, "end", "black", &format!("{} ms", 10_f64.powf(decades))));
    }
    let mut line = TOP;
    for (kind, curve) in curves.iter().filter(|(_, curve)| !curve.is_empty()) {
        let colour = COLOURS[*kind as usize];
        line += 20.0;
        parts.push(path(curve, colour));
        parts.push(text(LEFT + 12.0, line, "start", colour, kind.name()));
    }
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' font-family='sans-serif' font-size='14'>\
         <rect width='100%' height='100%' fill='white'/>{}</svg>\n",
        parts.concat()
    )
}

/// Points of a curve: nines of the percentile (2 is 99 %), and the logarithm of the milliseconds.
fn curve(record: &Record, kind: Kind) -> Vec<(f64, f64)> {
    let latencies = record.latencies(kind);
    let count = latencies.len() as f64;
    if count == 0.0 {
        return Vec::new();
    }
    // A percentile that leaves less than one operation is the maximum.
    let last = count.log10().min(MOST_NINES);
    let steps = (last * f64::from(POINTS)).ceil() as u32;
    let nines = (0..=steps).map(|step| (f64::from(step) / f64::from(POINTS)).min(last));
    let decades = |nines: f64| (latencies.value_at_quantile(1.0 - 10_f64.powf(-nines)) as f64 / 1000.0).log10();
    nines.map(|nines| (nines, decades(nines))).collect()
}
