//! Properties as Hadoop writes and reads them (`org.apache.hadoop.conf.Configuration`): XML with a `property` of
//! `name`, `value`, `final` and `source` each.

use super::{Properties, Property};
use crate::error::{HistoryError as Error, Place, Problem};
use crate::unpack;
use roxmltree::{Document, Node, ParsingOptions};

/// Largest configuration that is read, uncompressed. Those of jobs have up to 1 MB.
const MOST_BYTES: usize = 16 << 20;

/// Most elements, texts and attributes; those of a job are 20,000.
const MOST_NODES: u32 = 1 << 20;

impl Properties {
    /// Whether content looks like a configuration's XML, compressed or not.
    pub fn looks_like(bytes: &[u8]) -> bool {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        start.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<')
            && start.contains("<configuration")
    }

    /// Reads a configuration, compressed or not. `source` names it for properties that do not say where they are from.
    pub fn read(bytes: &[u8], source: &str) -> Result<Self, Error> {
        let bytes = &*unpack(bytes)?;
        if bytes.len() > MOST_BYTES {
            let what = format!("a configuration of {} bytes; up to {MOST_BYTES} are read", bytes.len());
            return Err(Error::new(MOST_BYTES, Problem::Limit(what)));
        }
        let text = str::from_utf8(bytes)
            .map_err(|error| Error::malformed(error.valid_up_to(), "text in UTF-8", "other bytes"))?;
        let text = text.trim_start_matches('\u{feff}');
        // Without `allow_dtd` a document type is an error, so that no entity can grow.
        let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options).map_err(|error| broken(text, &error))?;
        let root = document.root_element();
        let line = |node: &Node| document.text_pos_at(node.range().start).row;
        let malformed = |node: &Node, expected: &str, found: String| {
            Error::malformed(node.range().start, expected, found).at(Place::Line(u64::from(line(node))))
        };
        if root.tag_name().name() != "configuration" {
            let found = format!("`<{:.40}>`", root.tag_name().name());
            return Err(malformed(&root, "Hadoop's `<configuration>`", found));
        }
        let mut properties = Self::default();
        for node in root.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "property" => {}
                "include" => {
                    let file = node.attribute("href").unwrap_or_default().to_owned();
                    return Err(malformed(
                        &node,
                        "properties, with files that are included put in",
                        format!("`{file:.80}`"),
                    ));
                }
                _ => continue,
            }
            // Hadoop 3 reads attributes too.
            let field = |name: &str| {
                let child = node.children().find(|child| child.has_tag_name(name));
                child.map(inner_text).or_else(|| node.attribute(name).map(str::to_owned))
            };
            let Some(name) = field("name").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()) else {
                return Err(malformed(&node, "a property with a `<name>`", "none".to_owned()));
            };
            // The first source set the value, the last is the file itself. Hadoop 1 says it in a comment.
            let comment = node.children().filter(Node::is_comment).find_map(|comment| comment.text());
            let loaded = comment.and_then(|text| text.trim().strip_prefix("Loaded from ")).map(str::to_owned);
            let origin = field("source").or(loaded).map(|origin| origin.trim().to_owned());
            properties.enter(Property {
                value: field("value").unwrap_or_default(),
                is_final: field("final").is_some_and(|text| text.trim() == "true"),
                written: name,
                source: origin.unwrap_or_else(|| source.to_owned()),
                line: line(&node),
            });
        }
        Ok(properties)
    }
}

fn inner_text(node: Node) -> String {
    node.children().filter_map(|child| child.text()).collect()
}

fn broken(text: &str, error: &roxmltree::Error) -> Error {
    let place = error.pos();
    let lines = text.split_inclusive('\n').take(place.row.saturating_sub(1) as usize);
    let line: usize = lines.map(str::len).sum();
    let offset = (line + place.col.saturating_sub(1) as usize).min(text.len());
    let problem = match error {
        roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
            return Error::truncated(text.len(), "XML");
        }
        roxmltree::Error::DtdDetected => {
            Problem::malformed("a configuration without a document type", "`<!DOCTYPE`: take it out")
        }
        roxmltree::Error::NodesLimitReached => Problem::Limit(format!("more than {MOST_NODES} parts of XML")),
        // Their words end with the place.
        other => {
            let words = other.to_string();
            Problem::malformed("XML", words.split(" at ").next().unwrap_or(&words).to_owned())
        }
    };
    Error::new(offset, problem).at(Place::Line(u64::from(place.row)))
}
