//! Figures of sides that take turns, and the page that shows them.

use std::fmt::Write;

/// A side of a comparison: one figure for each round.
#[derive(Clone)]
pub struct Side {
    pub name: String,
    pub figures: Vec<f64>,
}

impl Side {
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), figures: Vec::new() }
    }

    pub fn median(&self) -> f64 {
        median(self.figures.clone())
    }

    fn ends(&self) -> (f64, f64) {
        let lowest = self.figures.iter().copied().fold(f64::INFINITY, f64::min);
        (lowest, self.figures.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// This side divided by another, round by round.
    pub fn over(&self, other: &Self) -> Self {
        let figures = self.figures.iter().zip(&other.figures).map(|(own, other)| own / other).collect();
        Self { name: format!("{} / {}", self.name, other.name), figures }
    }
}

/// Runs sides in turn. Round 0 warms all of them up and does not count. Each side returns its figure of a round.
pub fn in_turn(rounds: usize, unit: &str, sides: &mut [(&str, &mut dyn FnMut(usize) -> f64)]) -> Vec<Side> {
    let mut results: Vec<_> = sides.iter().map(|(name, _)| Side::new(name)).collect();
    for round in 0..=rounds {
        for ((name, run), side) in sides.iter_mut().zip(&mut results) {
            let figure = run(round);
            let which = if round == 0 { "warm-up".into() } else { format!("round {round} of {rounds}") };
            progress(&format!("{which}: {name}: {} {unit}", short(figure)));
            if round > 0 {
                side.figures.push(figure);
            }
        }
    }
    results
}

/// Says what happens now.
pub fn progress(text: &str) {
    eprintln!("bench: {text}");
}

/// The wanted value of a figure.
#[derive(Clone, Copy)]
pub enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

struct Goal {
    what: String,
    wanted: Wanted,
    unit: String,
    side: Side,
}

/// Collects everything that a run finds out.
#[derive(Default)]
pub struct Report {
    goals: Vec<Goal>,
    body: String,
}

impl Report {
    pub fn section(&mut self, title: &str) {
        progress(&format!("== {title}"));
        write!(self.body, "\n## {title}\n").expect("strings take all");
    }

    pub fn text(&mut self, text: &str) {
        write!(self.body, "\n{text}\n").expect("strings take all");
    }

    /// A table of sides: median, lowest and highest.
    pub fn table(&mut self, unit: &str, sides: &[&Side]) {
        write!(self.body, "\n| {unit} | median | lowest | highest |\n|---|---:|---:|---:|\n")
            .expect("strings take all");
        for side in sides {
            let (lowest, highest) = side.ends();
            let figures = [side.median(), lowest, highest].map(short).join(" | ");
            writeln!(self.body, "| {} | {figures} |", side.name).expect("strings take all");
            progress(&format!("{}: {figures} {unit}", side.name));
        }
    }

    /// A figure that the project wants to reach; its median counts.
    pub fn goal(&mut self, what: &str, wanted: Wanted, unit: &str, side: &Side) {
        progress(&format!("{what}: {} {unit}", short(side.median())));
        self.goals.push(Goal { what: what.into(), wanted, unit: unit.into(), side: side.clone() });
    }

    /// The table of the goals.
    pub fn goals(&self) -> String {
        let mut table =
            String::from("| figure | wanted | measured | lowest … highest | reached |\n|---|---:|---:|---:|---|\n");
        for Goal { what, wanted, unit, side } in &self.goals {
            let measured = side.median();
            let (sign, bound, reached) = match *wanted {
                Wanted::AtLeast(bound) => ("≥", bound, measured >= bound),
                Wanted::AtMost(bound) => ("≤", bound, measured <= bound),
            };
            let (lowest, highest) = side.ends();
            let spread = if side.figures.len() > 1 {
                format!("{} … {}", short(lowest), short(highest))
            } else {
                "one run".into()
            };
            let reached = if reached { "yes" } else { "**no**" };
            writeln!(table, "| {what} | {sign} {bound} {unit} | {} {unit} | {spread} | {reached} |", short(measured))
                .expect("strings take all");
        }
        table
    }

    pub fn body(&self) -> &str {
        &self.body
    }
}

/// The middle figure.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Three digits that count.
pub fn short(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 => {
            let text = format!("{figure:.0}");
            let mut grouped = String::new();
            for (place, digit) in text.chars().enumerate() {
                if place > 0 && (text.len() - place) % 3 == 0 && !grouped.ends_with('-') {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            grouped
        }
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 1.0 => format!("{figure:.2}"),
        size if size >= 0.1 => format!("{figure:.3}"),
        _ => format!("{figure:.5}"),
    }
}
