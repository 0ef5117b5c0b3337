//! The modules of the console as one script, so that a first visit takes few requests.
//!
//! Each module becomes a function, after those that it imports. This needs no parser of JavaScript, because the sources keep
//! to the plain forms that [`Module::of`] reads: statements at the start of a line, no circle of imports, and exports that
//! stay as they are. A test of the sources holds them to that.

use std::io;

/// A module as the body of a function.
struct Module {
    body: String,
    /// The paths of the modules that it needs.
    imports: Vec<String>,
}

/// The script that runs the module `main`. `source` reads the text of a module by its path.
pub(super) fn script(main: &str, source: &impl Fn(&str) -> io::Result<String>) -> io::Result<String> {
    let (mut script, mut begun) = ("const modules = {};\n".to_owned(), Vec::new());
    add(main, source, &mut begun, &mut script)?;
    Ok(script)
}

fn add(
    path: &str,
    source: &impl Fn(&str) -> io::Result<String>,
    begun: &mut Vec<String>,
    script: &mut String,
) -> io::Result<()> {
    if begun.iter().any(|other| other == path) {
        return Ok(());
    }
    begun.push(path.to_owned());
    let Module { body, imports } = Module::of(path, &source(path)?);
    for import in imports {
        add(&import, source, begun, script)?;
    }
    script.push_str(&format!("// {path}\nmodules[\"{path}\"] = (() => {{\n{body}}})();\n"));
    Ok(())
}

impl Module {
    fn of(path: &str, text: &str) -> Self {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (mut body, mut imports, mut exports) = (String::new(), Vec::new(), Vec::new());
        // Libraries end with all their exports, without spaces.
        let (text, own) = text.rsplit_once("export{").unwrap_or((text, ""));
        if let Some((names, _)) = own.split_once('}') {
            exports.extend(names.split(',').map(exported));
        }
        let mut rest = text;
        while !rest.is_empty() {
            if let Some((clause, from, after)) = imported(rest, "import") {
                let module = resolved(folder, from);
                body.push_str(&format!("const {} = modules[\"{module}\"];", bound(clause)));
                imports.push(module);
                rest = after;
            } else if let Some((clause, from, after)) = imported(rest, "export {") {
                let module = resolved(folder, from);
                let names = clause.trim_end().trim_end_matches('}');
                body.push_str(&format!("const {{{names}}} = modules[\"{module}\"];"));
                exports.extend(names.split(',').map(|name| name.trim().to_owned()));
                imports.push(module);
                rest = after;
            } else {
                let (line, after) = rest.split_once('\n').map_or((rest, ""), |(line, after)| (line, after));
                // Comments are an eighth of the bytes.
                if !line.trim_start().starts_with("//") {
                    body.push_str(&exporting(line, &mut exports));
                    body.push('\n');
                }
                rest = after;
            }
        }
        body.push_str(&format!("return {{ {} }};\n", exports.join(", ")));
        Self { body, imports }
    }
}

/// The clause, the path and what follows of a statement that begins like this and takes names from another module.
fn imported<'t>(text: &'t str, begin: &str) -> Option<(&'t str, &'t str, &'t str)> {
    let (statement, after) = text.strip_prefix(begin)?.split_once(';')?;
    let (clause, from) = statement.rsplit_once("from")?;
    Some((clause, from.trim().strip_prefix('"')?.strip_suffix('"')?, after))
}

/// The path of a module that another one in this folder names.
fn resolved(folder: &str, from: &str) -> String {
    let from = from.trim_start_matches("./");
    if folder.is_empty() { from.to_owned() } else { format!("{folder}/{from}") }
}

/// The names of an import, as a declaration binds them.
fn bound(clause: &str) -> String {
    let clause = clause.trim();
    match clause.strip_prefix("* as ") {
        Some(whole) => whole.to_owned(),
        None if clause.starts_with('{') => clause.replace(" as ", ": "),
        None => format!("{{ default: {clause} }}"),
    }
}

/// A name of an export, as an object has it.
fn exported(name: &str) -> String {
    match name.trim().split_once(" as ") {
        Some((own, other)) => format!("{other}: {own}"),
        None => name.trim().to_owned(),
    }
}

/// A line without the word `export`; the name that it exports is kept.
fn exporting(line: &str, exports: &mut Vec<String>) -> String {
    if let Some((before, value)) = line.split_once("export default ") {
        exports.push("default: whole".to_owned());
        return format!("{before}const whole = {value}");
    }
    let Some(declaration) = line.strip_prefix("export ") else { return line.to_owned() };
    let words = declaration.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    exports
        .extend(words.map(str::to_owned).find(|word| !["async", "function", "class", "const", ""].contains(&&**word)));
    declaration.to_owned()
}
