package import Encodings

/// What differs between the catalog in force and another one, and whom it would affect:
/// `catalog diff`.
package struct CatalogDifferenceAnswer: Described {
    /// What differs.
    package var difference: CatalogDifference
    /// Who gains and who loses.
    package var affected: WhatIfAnswer

    /// Makes an answer.
    package init(difference: CatalogDifference, affected: WhatIfAnswer) {
        self.difference = difference
        self.affected = affected
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "CatalogDifferenceAnswer",
        "What differs between two catalogs",
        Self.init
    ) {
        Field(inline: \.difference)
        Field("affected", \.affected, .object)
    }
}

/// What differs between two catalog documents, texts and prices included.
package struct CatalogDifference: Described {
    /// Ordered names.
    package var tiers: ValueChange?
    /// By feature id.
    package var features: [ThingChange]
    /// By product id.
    package var products: [ThingChange]
    /// By trial id.
    package var trials: [ThingChange]
    /// By experiment id.
    package var experiments: [ThingChange]
    /// All of them: their order counts.
    package var offerings: ValueChange?
    /// Rules of the whole catalog.
    package var policy: ValueChange?
    /// Whether zones were resolved otherwise.
    package var hasOtherTimeZones: Bool

    /// Whether the documents say the same, up to the order of things that have ids.
    package var isEmpty: Bool {
        tiers == nil && features.isEmpty && products.isEmpty && trials.isEmpty
            && experiments.isEmpty && offerings == nil && policy == nil && !hasOtherTimeZones
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "CatalogDifference",
        "What differs between two catalog documents",
        Self.init
    ) {
        Field("tiers", \.tiers, .orNull(.object))
        Field("features", \.features, .list(.object))
        Field("products", \.products, .list(.object))
        Field("trials", \.trials, .list(.object))
        Field("experiments", \.experiments, .list(.object))
        Field("offerings", \.offerings, .orNull(.object))
        Field("policy", \.policy, .orNull(.object))
        Field(
            "timeZones",
            \.hasOtherTimeZones,
            .boolean,
            "Whether the resolved time zones differ"
        )
    }

    /// One value that is another one.
    package struct ValueChange: Described {
        /// What it was.
        package var before: JSONValue
        /// What it is.
        package var after: JSONValue

        /// Its members, in the order in which they are written.
        package static let fields = Fields("ValueChange", "A value that is another", Self.init) {
            Field("before", \.before, .anything, "As the catalog had it; null: it had none")
            Field("after", \.after, .anything, "As the other has it; null: it has none")
        }
    }

    /// One thing of a catalog by its id, as it was and as it is.
    package struct ThingChange: Described {
        /// Unique among its kind.
        package var id: String
        /// How it was; nil: it was not there.
        package var before: JSONValue?
        /// How it is; nil: it is not there.
        package var after: JSONValue?

        /// The members that differ, in their order; none where it came or went.
        package var changed: [String] {
            guard let before, let after else { return [] }
            let old = before.members ?? []
            let new = after.members ?? []
            let kept = new.filter { before[$0.name] != $0.value }.map(\.name)
            let gone = old.filter { after[$0.name] == nil }.map(\.name)
            return kept + gone
        }

        /// Its members, in the order in which they are written; what changed follows from both.
        package static let fields = Fields(
            "ThingChange",
            "A feature, product, trial or experiment that is another, came or went",
            { id, _, before, after in Self(id: id, before: before, after: after) }
        ) {
            Field("id", \.id, .name)
            Field(
                "changed",
                \.changed,
                .list(.text),
                "Members that differ; none where it came or went"
            )
            Field("before", \.before, .orNull(.document("As the catalog had it")))
            Field("after", \.after, .orNull(.document("As the other has it")))
        }
    }
}

extension CatalogDifference {
    /// Compares two documents that passed K10; nil: there is none yet.
    ///
    /// Ids compare byte by byte. O(n log n).
    package init(from before: JSONValue?, to after: JSONValue?) {
        func value(_ name: String) -> ValueChange? {
            let (before, after) = (before?[name] ?? .null, after?[name] ?? .null)
            return before == after ? nil : ValueChange(before: before, after: after)
        }
        func things(_ name: String) -> [ThingChange] {
            Self.changes(from: before?[name]?.array ?? [], to: after?[name]?.array ?? [])
        }
        self.init(
            tiers: value("tiers"),
            features: things("features"),
            products: things("products"),
            trials: things("trials"),
            experiments: things("experiments"),
            offerings: value("offerings"),
            policy: value("policy"),
            hasOtherTimeZones: value("timeZones") != nil
        )
    }

    /// What differs between two lists of things; by id.
    private static func changes(
        from before: [JSONValue],
        to after: [JSONValue]
    ) -> [ThingChange] {
        func byID(_ things: [JSONValue]) -> [Name: JSONValue] {
            Dictionary(things.map { (id($0), $0) }, uniquingKeysWith: { first, _ in first })
        }
        func id(_ thing: JSONValue) -> Name { Name(thing["id"]?.string ?? "") }
        let (old, new) = (byID(before), byID(after))
        let changed = before.filter { new[id($0)] != $0 }.map {
            ThingChange(id: id($0).text, before: $0, after: new[id($0)])
        }
        let came = after.filter { old[id($0)] == nil }.map {
            ThingChange(id: id($0).text, before: nil, after: $0)
        }
        return (changed + came).sorted { Name($0.id) < Name($1.id) }
    }
}

extension Form<JSONValue> {
    /// A value of a document that others wrote.
    static var anything: Self {
        Form(.anything, write: { $1.value($0) }, reading: { $0 ?? .null })
    }

    /// An object of a document that others wrote.
    static func document(_ about: String) -> Self {
        Form(
            .document(about),
            expected: "an object",
            write: { $1.value($0) },
            read: { $0.members == nil ? nil : $0 }
        )
    }
}
