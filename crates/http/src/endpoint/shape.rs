//! A schema of the document, with the parts that it needs.

use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// A schema with the schemas that it refers to, each by its name.
pub(crate) struct Shape {
    pub(crate) schema: RefOr<Schema>,
    pub(crate) parts: Vec<(String, RefOr<Schema>)>,
}

impl Shape {
    /// The schema of a type.
    pub(crate) fn of<T: ToSchema>() -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        parts.push((T::name().into_owned(), T::schema()));
        Self { schema: Ref::from_schema_name(T::name()).into(), parts }
    }

    /// A given schema, under a name.
    pub(crate) fn named(name: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        Self { schema: Ref::from_schema_name(name).into(), parts: vec![(name.to_owned(), schema.into())] }
    }

    /// Adds a schema that it refers to.
    pub(crate) fn with(mut self, name: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        self.parts.push((name.to_owned(), schema.into()));
        self
    }

    /// Several of them, as an object `{items}` with a name.
    pub(crate) fn items(self, name: &str) -> Self {
        self.listed(name, ObjectBuilder::new())
    }

    /// A page of them, as an object `{items, next, prev}` with a name.
    pub(crate) fn page(self, name: &str) -> Self {
        let cursor = |about: &str| {
            let nullable = [Type::String, Type::Null].into_iter().collect::<utoipa::openapi::schema::SchemaType>();
            ObjectBuilder::new()
                .schema_type(nullable)
                .pattern(Some(r"^[0-9]+-[^\x00-\x1f\x7f-\x9f]+$"))
                .description(Some(about))
                .build()
        };
        let page = ObjectBuilder::new()
            .property("next", cursor("The cursor to pass as `before` for older entries; `null` on the last page"))
            .required("next")
            .property(
                "prev",
                cursor("The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds"),
            )
            .required("prev");
        self.listed(name, page)
    }

    fn listed(mut self, name: &str, object: ObjectBuilder) -> Self {
        let object = object.property("items", ArrayBuilder::new().items(self.schema)).required("items");
        self.parts.push((name.to_owned(), object.build().into()));
        Self { schema: Ref::from_schema_name(name).into(), parts: self.parts }
    }
}
