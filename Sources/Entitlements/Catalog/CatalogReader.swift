public import Encodings

extension Catalog {
    /// Faults that are listed: a document may have one in every few bytes.
    package static let faultLimit = 1000
    /// Days of a trial.
    static let trialDayRange: ClosedRange<Int64> = 0...36_500
    /// Seconds of leeway: a year at most.
    static let leewaySecondRange: ClosedRange<Int64> = 0...31_622_400
    /// Counts and amounts of a limit.
    static let limitRange: ClosedRange<Int64> = 0...1_000_000_000_000
    /// Weights of a variant; a thousand of the largest still sum within 64 bits.
    static let weightRange: ClosedRange<Int64> = 0...1_000_000_000_000
    /// Seconds by which local time may differ from UTC: 26 hours either way, more than any zone has.
    package static let offsetSecondRange: ClosedRange<Int64> = -93_600...93_600

    /// Reads a catalog document and lists its faults (K10), at most `faultLimit`.
    ///
    /// Named time zones are read from the member `timeZones`, where `publish` puts them. Cost:
    /// linear in the document.
    /// - Throws: `InputFault`, with all that is wrong.
    public init(document: JSONValue) throws(InputFault) {
        try self.init(CatalogReader(document))
    }

    /// Reads a catalog as it was recorded, however many things it lists: what was published once is
    /// read for ever.
    /// - Throws: `InputFault`, with all that is wrong.
    package init(recorded document: JSONValue) throws(InputFault) {
        try self.init(CatalogReader(document, isLimited: false))
    }

    private init(_ reader: CatalogReader) throws(InputFault) {
        var reader = reader
        self = reader.catalog()
        if let fault = InputFault(reader.faults) { throw fault }
    }

    /// The named zones that a document's limits use, `UTC` apart.
    package static func zoneNames(in document: JSONValue) -> Set<String> {
        var reader = CatalogReader(document)
        _ = reader.catalog()
        return reader.zoneNames
    }
}

/// Reads a document member by member and notes what is wrong, so that all faults are listed.
struct CatalogReader {
    let document: JSONValue
    /// Whether lists have limits: all but those of what is recorded already.
    let isLimited: Bool
    var faults: [InputFault] = []
    var zoneNames: Set<String> = []
    /// Names of the zones that the document resolves.
    let resolvedZoneNames: Set<String>
    var tiers: [String] = []
    /// Places of the tiers by name.
    private var tierPlaces: [Name: Int] = [:]
    var featureIDs: Set<Name> = []
    var productIDs: Set<Name> = []

    init(_ document: JSONValue, isLimited: Bool = true) {
        self.document = document
        self.isLimited = isLimited
        let zones = document["timeZones"]?["zones"]?.members ?? []
        resolvedZoneNames = Set(zones.map(\.name))
    }

    mutating func catalog() -> Catalog {
        if document.members == nil { note(.malformed, "", "expected an object") }
        for member in document.members ?? [] where !CatalogPart.document.has(member.name) {
            note(.unknownMember, member.name, "not a member of a catalog")
        }
        readTiers()
        // Ids first: limits, unlocks and overrides may name what stands later.
        featureIDs = uniqueIDs("features")
        productIDs = uniqueIDs("products")
        let features = elements("features", .features).map { feature($0, $1) }
        let products = elements("products", .products).map { product($0, $1) }
        noteAmbiguousProducts(products)
        _ = uniqueIDs("trials")
        let trials = array(document["trials"], "trials", .trials).map { trial($0, $1) }
        checkOfferings()
        _ = uniqueIDs("experiments")
        let experiments = array(document["experiments"], "experiments", .experiments)
            .map { experiment($0, $1) }
        let zones = resolvedZones()
        return Catalog(
            tiers: tiers,
            features: features,
            products: products,
            trials: trials,
            experiments: experiments,
            policy: policy(),
            zones: zones
        )
    }

    mutating func note(_ code: InputFault.Code, _ path: String, _ detail: String) {
        guard faults.count < Catalog.faultLimit else { return }
        faults.append(InputFault(code, path, detail))
    }

    // MARK: Shapes

    /// Elements of a required array with their paths.
    mutating func elements(_ name: String, _ list: CatalogList) -> [(JSONValue, String)] {
        if document[name] == nil { note(.missing, name, "required") }
        return array(document[name], name, list)
    }

    /// Elements of an array with their paths, as many as the list may have.
    mutating func array(
        _ json: JSONValue?,
        _ path: String,
        _ list: CatalogList
    ) -> [(JSONValue, String)] {
        guard let json else { return [] }
        guard let array = json.array else {
            note(.malformed, path, "expected an array")
            return []
        }
        return limited(array, path, list).enumerated().map { ($1, "\(path)[\($0)]") }
    }

    /// Members of an object with their paths, as many as the list may have.
    mutating func members(
        _ members: [JSONMember],
        _ path: String,
        _ list: CatalogList
    ) -> [(JSONMember, String)] {
        limited(members, path, list).map { ($0, path + "." + $0.name.cut) }
    }

    private mutating func limited<Element>(
        _ elements: [Element],
        _ path: String,
        _ list: CatalogList
    ) -> ArraySlice<Element> {
        guard isLimited, elements.count > list.limit else { return elements[...] }
        note(.outOfRange, path, "expected at most \(list.limit)")
        return elements.prefix(list.limit)
    }

    mutating func text(_ json: JSONValue?, _ path: String) -> String {
        guard let json else {
            note(.missing, path, "required")
            return ""
        }
        guard let text = json.string, Identifier.isValid(text),
            text.utf8.count <= FieldShape.nameByteLimit
        else {
            note(.malformed, path, "expected 1 to \(FieldShape.nameByteLimit) bytes of text")
            return ""
        }
        return text
    }

    mutating func integer(
        _ json: JSONValue?,
        _ path: String,
        _ range: ClosedRange<Int64>
    ) -> Int64 {
        guard let json else {
            note(.missing, path, "required")
            return range.lowerBound
        }
        guard let integer = json.integer else {
            note(.malformed, path, "expected an integer")
            return range.lowerBound
        }
        guard range.contains(integer) else {
            note(.outOfRange, path, "expected \(range.lowerBound) to \(range.upperBound)")
            return range.lowerBound
        }
        return integer
    }

    /// The ids of an array's elements; a repeated one is noted.
    mutating func uniqueIDs(_ name: String) -> Set<Name> {
        var seen: Set<Name> = []
        for (index, element) in (document[name]?.array ?? []).enumerated() {
            guard let id = element["id"]?.string else { continue }
            if !seen.insert(Name(id)).inserted {
                note(.duplicateID, "\(name)[\(index)].id", "given twice")
            }
        }
        return seen
    }

    // MARK: Tiers and references

    private mutating func readTiers() {
        for (element, path) in elements("tiers", .tiers) {
            let name = text(element, path)
            if tierPlaces[name] == nil {
                tierPlaces[name] = tiers.count
            } else {
                note(.duplicateID, path, "given twice")
            }
            tiers.append(name)
        }
        if tiers.first != Catalog.freeTier {
            note(.freeTierMissing, "tiers", "the first tier is \"free\"")
        }
    }

    mutating func tier(_ json: JSONValue?, _ path: String) -> Int? {
        guard let json, !json.isNull else { return nil }
        let name = text(json, path)
        guard let index = tierPlaces[name] else {
            note(.unknownTier, path, "not among the tiers")
            return nil
        }
        return index
    }

    mutating func knownFeatures(_ json: JSONValue?, _ path: String) -> [String] {
        array(json, path, .named).map { knownFeature($0, $1) }
    }

    mutating func knownFeature(_ json: JSONValue?, _ path: String) -> String {
        let id = text(json, path)
        if !featureIDs.contains(id) { note(.unknownFeature, path, "not among the features") }
        return id
    }
}

extension String {
    /// The beginning of a name that a document gives, for paths of faults.
    var cut: String {
        utf8.count <= FieldShape.nameByteLimit
            ? self : String(unicodeScalars.prefix(FieldShape.nameByteLimit / 4)) + "…"
    }
}
