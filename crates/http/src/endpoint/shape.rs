//! A schema of the document, with the parts that it needs.

use std::mem;

use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

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

    /// The schema of a type in a request. Every optional field may also be `null`. The server refuses fields beyond the
    /// properties; the schema does not say so, because generators of clients make maps of objects with
    /// `additionalProperties`, and leave their properties out.
    pub(crate) fn of_request<T: ToSchema>() -> Self {
        let mut shape = Self::of::<T>();
        for (_, part) in &mut shape.parts {
            if let RefOr::T(Schema::Object(object)) = part {
                object.additional_properties = None;
                let required = &object.required;
                let properties = object.properties.iter_mut();
                properties.filter(|(name, _)| !required.contains(name)).for_each(|(_, field)| allow_null(field));
            }
        }
        shape
    }

    /// A given schema, under a name.
    pub(crate) fn named(name: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        Self { schema: Ref::from_schema_name(name).into(), parts: vec![(name.to_owned(), schema.into())] }
    }

    /// Several of them, as an object `{items}` with a name.
    pub(crate) fn items(self, name: &str) -> Self {
        self.listed(name, ObjectBuilder::new())
    }

    /// A page of them, as an object `{items, next, prev}` with a name.
    pub(crate) fn page(self, name: &str) -> Self {
        let cursor = |about: &str| {
            ObjectBuilder::new()
                .schema_type(or_null(Type::String.into()))
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

/// The type of a field that may also be `null`.
fn or_null(schema_type: SchemaType) -> SchemaType {
    match schema_type {
        SchemaType::Type(one) => SchemaType::from_iter([one, Type::Null]),
        SchemaType::Array(mut several) => {
            if !several.contains(&Type::Null) {
                several.push(Type::Null);
            }
            SchemaType::Array(several)
        }
        SchemaType::AnyValue => SchemaType::AnyValue,
    }
}

/// Lets a field be `null`, too.
fn allow_null(field: &mut RefOr<Schema>) {
    match field {
        RefOr::Ref(named) => {
            let about = Some(mem::take(&mut named.description)).filter(|about| !about.is_empty());
            let null = Object::with_type(Type::Null);
            *field = OneOfBuilder::new().item(named.clone()).item(null).description(about).into();
        }
        RefOr::T(Schema::Object(object)) => object.schema_type = or_null(object.schema_type.clone()),
        RefOr::T(Schema::Array(array)) => array.schema_type = or_null(array.schema_type.clone()),
        RefOr::T(_) => {}
    }
}
