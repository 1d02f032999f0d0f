import Encodings

/// The members of a part of a catalog document that are read; others are the app's own.
///
/// What the reader admits, what is doubted and the schema are of this list.
package struct CatalogPart: Sendable {
    /// What it is called in a sentence; nil: none of its other members is doubted.
    let name: String?
    /// The members that are read.
    package let members: [Member]
    /// Whether it says nothing without one of its members.
    package let needsMember: Bool

    private init(_ name: String?, needsMember: Bool = false, _ members: [Member]) {
        self.name = name
        self.members = members
        self.needsMember = needsMember
    }

    /// Whether a member of that name is read.
    func has(_ name: String) -> Bool { member(name) != nil }

    /// The member of that name.
    func member(_ name: String) -> Member? { members.first { $0.name.isSame(as: name) } }

    /// A member that is read.
    package struct Member: Sendable {
        package let name: String
        package let form: Form
        /// Whether it must be there.
        package let isRequired: Bool
        /// What it is, where its name does not say it.
        package let about: String?

        fileprivate init(
            _ name: String,
            _ form: Form,
            isRequired: Bool = false,
            about: String? = nil
        ) {
            self.name = name
            self.form = form
            self.isRequired = isRequired
            self.about = about
        }
    }

    /// What stands for a member.
    package indirect enum Form: Sendable {
        /// An id of the catalog, of a store's product or of a time zone.
        case id
        /// A store's name.
        case store
        case text
        /// `P30D`, `P2W`, `P6M`, `P1Y`.
        case duration
        case choice([String])
        case integer(ClosedRange<Int64>)
        case flag
        /// Ids, each once, the first of them `free`.
        case tiers
        /// Milliseconds since 1970, and seconds east of UTC from then on.
        case transition
        case list(Form)
        /// A list with something in it.
        case some(Form)
        /// By names of the document's own, which have a form too.
        case map(Form, by: Form)
        case part(CatalogPart)
        /// Null stands for no value.
        case orNull(Form)
    }
}

extension CatalogPart {
    /// The whole.
    package static let document = CatalogPart(
        "the catalog",
        [
            Member("tiers", .tiers, isRequired: true, about: "Lowest first"),
            Member("features", .list(.part(feature)), isRequired: true),
            Member("products", .list(.part(product)), isRequired: true),
            Member("trials", .list(.part(trial))), Member("offerings", offerings),
            Member("experiments", .list(.part(experiment))), Member("policy", .part(policy)),
            Member(
                "timeZones",
                .part(timeZones),
                about:
                    "Written at publish: the zones that limits name, as offsets from 2000 to 2100"
            ),
        ]
    )

    private static let feature = CatalogPart(
        "a feature",
        [
            Member("id", .id, isRequired: true),
            Member("level", .orNull(.id), about: "A tier; default the highest"),
            Member("limits", .orNull(.map(.part(limit), by: .id)), about: "By tier"),
        ]
    )

    private static let limit = CatalogPart(
        "a limit",
        needsMember: true,
        [
            Member("perUse", .orNull(.part(perUse))),
            Member("perPeriod", .orNull(.part(perPeriod))),
        ]
    )

    private static let perUse = CatalogPart(
        "perUse",
        [Member("amount", .integer(Catalog.limitRange), isRequired: true), Member("unit", .id)]
    )

    private static let perPeriod = CatalogPart(
        "perPeriod",
        [
            Member("count", .integer(Catalog.limitRange), isRequired: true),
            Member("period", .choice(UsagePeriod.allCases.map(\.rawValue)), isRequired: true),
            Member("timeZone", .id, about: "A name of the zone database; default UTC"),
        ]
    )

    private static let product = CatalogPart(
        "a product",
        [
            Member("id", .id, isRequired: true),
            Member("kind", .choice(ProductKind.names), isRequired: true),
            Member(
                "stores",
                .orNull(.map(.list(.id), by: .store)),
                about: "Per store the ids that it sells the product under; default the same id; "
                    + "empty: not sold there"
            ),
            Member("unlocks", .orNull(.part(unlocks))),
            Member(
                "duration",
                .orNull(.duration),
                about: "Of a non_renewing product: how long it lasts where the store states no end"
            ),
        ]
    )

    private static let unlocks = CatalogPart(
        "unlocks",
        [
            Member("features", .list(.id)), Member("tier", .orNull(.id)), Member("all", .flag),
        ]
    )

    private static let trial = CatalogPart(
        "a trial",
        [
            Member("id", .id, isRequired: true),
            Member("days", .integer(Catalog.trialDayRange), isRequired: true),
            Member("features", .list(.id)), Member("tier", .orNull(.id)),
        ]
    )

    /// Presentation, but for what they name.
    private static let offerings = Form.list(
        .part(
            CatalogPart(nil, [Member("feature", .orNull(.id)), Member("products", .list(.id))])
        )
    )

    private static let experiment = CatalogPart(
        "an experiment",
        [
            Member("id", .id, isRequired: true),
            Member("variants", .some(.part(variant)), isRequired: true),
        ]
    )

    private static let variant = CatalogPart(
        "a variant",
        [
            Member("id", .id, isRequired: true),
            Member("weight", .integer(Catalog.weightRange), isRequired: true),
            Member("overrides", .part(overrides)),
        ]
    )

    private static let overrides = CatalogPart(
        "overrides",
        [Member("features", .list(.part(feature))), Member("offerings", offerings)]
    )

    private static let policy = CatalogPart(
        "the policy",
        [
            Member("claim", .choice(Catalog.ClaimPolicy.allCases.map(\.rawValue))),
            Member("renewalLeewaySeconds", .integer(Catalog.leewaySecondRange)),
        ]
    )

    /// Not written by hand.
    private static let timeZones = CatalogPart(
        nil,
        [Member("tzdata", .text), Member("zones", .map(.part(zone), by: .text))]
    )

    private static let zone = CatalogPart(
        nil,
        [
            Member("offsetSeconds", .integer(Catalog.offsetSecondRange), isRequired: true),
            Member("transitions", .list(.transition)),
        ]
    )
}
