import Encodings
import Testing

@testable import Entitlements

/// The list of what is read of a catalog, held against its reader.
struct `What is read of a catalog` {
    private static let document = #"""
        {"tiers":["free","pro"],
         "features":[{"id":"a","level":"free","limits":{"free":{
           "perUse":{"amount":1,"unit":"s"},
           "perPeriod":{"count":1,"period":"day","timeZone":"Europe/Berlin"}}}}],
         "products":[{"id":"p","kind":"non_renewing","duration":"P30D","stores":{"app_store":["p1"]},
           "unlocks":{"features":["a"],"tier":"pro","all":true}}],
         "trials":[{"id":"t","days":7,"features":["a"],"tier":"pro"}],
         "offerings":[{"feature":"a","products":["p"]}],
         "experiments":[{"id":"e","variants":[{"id":"v","weight":1,"overrides":{
           "features":[{"id":"a","level":"pro","limits":{"pro":{"perUse":{"amount":1}}}}],
           "offerings":[{"feature":"a","products":["p"]}]}}]}],
         "policy":{"claim":"keep","renewalLeewaySeconds":1},
         "timeZones":{"tzdata":"1","zones":{"Europe/Berlin":{"offsetSeconds":3600,
           "transitions":[[1,7200]]}}}}
        """#

    // K10
    @Test func `is required and bounded as its list says`() throws {
        let document = try JSONValue(parsing: Array(Self.document.utf8))
        _ = try Catalog(document: document)
        let altered = CatalogPart.document.altered(document)
        #expect(altered.count > 60)
        for (what, document) in altered {
            #expect(throws: InputFault.self, "\(what)") { try Catalog(document: document) }
        }
    }
}

/// What was altered, and what it is then.
private typealias Altered = (what: String, json: JSONValue)

extension CatalogPart {
    /// An object without each member that it needs, and with values of none of their forms.
    fileprivate func altered(_ json: JSONValue) -> [Altered] {
        members.flatMap { member -> [Altered] in
            let others = (json.members ?? []).filter { $0.name != member.name }
            let values = json[member.name].map { member.form.altered($0) } ?? []
            return (member.isRequired ? [("no \(member.name)", .object(others))] : [])
                + values.map { value in
                    (
                        member.name + "." + value.what,
                        .object(others + [JSONMember(member.name, value.json)])
                    )
                }
        }
    }
}

extension CatalogPart.Form {
    fileprivate func altered(_ json: JSONValue) -> [Altered] {
        switch self {
        case .id, .store, .tiers, .flag, .transition: [("number", .integer(1))]
        case .choice: [("word", "other")]
        case .integer(let range):
            [
                ("below", .integer(range.lowerBound - 1)),
                ("above", .integer(range.upperBound + 1)), ("text", "1"),
            ]
        case .list(let form), .some(let form):
            [("number", .integer(1))]
                + (json.array?.first.map { form.altered($0) } ?? [])
                .map { ($0.what, .array([$0.json])) }
        case .map(let form, _):
            (json.members ?? []).flatMap { member in
                form.altered(member.value).map {
                    ($0.what, .object([JSONMember(member.name, $0.json)]))
                }
            }
        case .part(let part): part.altered(json)
        case .orNull(let form): form.altered(json)
        case .text: []
        case .duration: [("number", .integer(1)), ("text", "P0D"), ("word", "P1Dx")]
        }
    }
}
