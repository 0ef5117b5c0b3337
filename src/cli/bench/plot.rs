//! The latencies of a run as a picture: one curve for each kind of operation, over the percentiles.

use plotters::prelude::{
    ChartBuilder, Color, IntoDrawingArea, IntoLogRange, LineSeries, PathElement, RGBColor, SVGBackend,
    SeriesLabelPosition, WHITE,
};

use super::record::Record;
use crate::trace::Kind;
use model::error::{Error, Result};

const SIZE: (u32, u32) = (960, 540);
/// Points of a curve for each further nine.
const POINTS: u32 = 50;
/// The curves end at 99.9999 %.
const MOST_NINES: f64 = 6.0;
/// Colours that people with any colour vision tell apart (M. Okabe and K. Ito, 2008).
const COLOURS: [RGBColor; Kind::ALL.len()] = [
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// A curve: nines of the percentile (2 is 99 %), and milliseconds.
type Curve = Vec<(f64, f64)>;

/// The picture as SVG.
pub(super) fn svg(title: &str, record: &Record) -> Result<String> {
    let curves: Vec<(Kind, Curve)> =
        Kind::ALL.into_iter().map(|kind| (kind, curve(record, kind))).filter(|(_, curve)| !curve.is_empty()).collect();
    let mut text = String::new();
    draw(title, &curves, &mut text).map_err(|e| Error::Setup(format!("cannot draw the plot: {e}")))?;
    Ok(text)
}

fn curve(record: &Record, kind: Kind) -> Curve {
    let latencies = record.latencies(kind);
    let count = latencies.len() as f64;
    if count == 0.0 {
        return Vec::new();
    }
    // A percentile that leaves less than one operation is the maximum.
    let last = count.log10().min(MOST_NINES);
    let steps = (last * f64::from(POINTS)).ceil() as u32;
    let nines = (0..=steps).map(|step| (f64::from(step) / f64::from(POINTS)).min(last));
    nines.map(|nines| (nines, latencies.value_at_quantile(1.0 - 10_f64.powf(-nines)) as f64 / 1000.0)).collect()
}

fn draw(title: &str, curves: &[(Kind, Curve)], text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|(_, curve)| curve);
    let lowest = points().map(|(_, ms)| *ms).fold(f64::INFINITY, f64::min);
    let lowest = if lowest.is_finite() { lowest } else { 0.1 };
    let highest = points().map(|(_, ms)| *ms).fold(lowest, f64::max);
    let widest = points().map(|(nines, _)| *nines).fold(1.0, f64::max);
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..widest, (lowest / 1.5..highest * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("percentile")
        .y_desc("milliseconds")
        .x_labels(widest.ceil() as usize + 1)
        .x_label_formatter(&|nines| percentile(*nines))
        .y_label_formatter(&|ms| format!("{ms}"))
        .draw()?;
    for (kind, curve) in curves {
        let colour = COLOURS[*kind as usize];
        chart
            .draw_series(LineSeries::new(curve.iter().copied(), colour.stroke_width(2)))?
            .label(kind.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(RGBColor(128, 128, 128))
        .draw()?;
    area.present()?;
    Ok(())
}

/// The name of a percentile.
fn percentile(nines: f64) -> String {
    let digits = (nines.ceil() as usize).saturating_sub(2);
    format!("{:.digits$} %", 100.0 * (1.0 - 10_f64.powf(-nines)))
}
