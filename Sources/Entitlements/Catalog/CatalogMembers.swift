public import Encodings

/// The members of a part of a catalog document that are read; others are the app's own.
private struct CatalogMembers {
    /// What a part is called in a sentence.
    var part: String
    var names: [String]
    /// Members that are parts themselves.
    var objects: [String: CatalogMembers] = [:]
    /// Members that are lists of parts.
    var lists: [String: CatalogMembers] = [:]
    /// Members that are parts by names of the document's own.
    var maps: [String: CatalogMembers] = [:]

    static let document = CatalogMembers(
        part: "the catalog",
        names: [],
        objects: [
            "policy": CatalogMembers(part: "the policy", names: ["claim", "renewalLeewaySeconds"])
        ],
        lists: [
            "features": feature,
            "products": CatalogMembers(
                part: "a product",
                names: ["id", "kind", "stores", "unlocks"],
                objects: [
                    "unlocks": CatalogMembers(
                        part: "unlocks",
                        names: ["features", "tier", "all"]
                    )
                ]
            ),
            "trials": CatalogMembers(part: "a trial", names: ["id", "days", "features", "tier"]),
            "experiments": CatalogMembers(
                part: "an experiment",
                names: ["id", "variants"],
                lists: [
                    "variants": CatalogMembers(
                        part: "a variant",
                        names: ["id", "weight", "overrides"],
                        objects: [
                            "overrides": CatalogMembers(
                                part: "overrides",
                                names: ["features", "offerings"],
                                lists: ["features": feature]
                            )
                        ]
                    )
                ]
            ),
        ]
    )

    private static let feature = CatalogMembers(
        part: "a feature",
        names: ["id", "level", "limits"],
        maps: [
            "limits": CatalogMembers(
                part: "a limit",
                names: ["perUse", "perPeriod"],
                objects: [
                    "perUse": CatalogMembers(part: "perUse", names: ["amount", "unit"]),
                    "perPeriod": CatalogMembers(
                        part: "perPeriod",
                        names: ["count", "period", "timeZone"]
                    ),
                ]
            )
        ]
    )

    /// The misspelt members of a part and of the parts below it, in the order of the document.
    func doubts(_ json: JSONValue?, _ path: String) -> [CatalogDoubt] {
        (json?.members ?? []).flatMap { member -> [CatalogDoubt] in
            let place = path.isEmpty ? member.name.cut : path + "." + member.name.cut
            if let part = objects[member.name] { return part.doubts(member.value, place) }
            if let part = lists[member.name] {
                return (member.value.array ?? []).enumerated().flatMap { index, element in
                    part.doubts(element, "\(place)[\(index)]")
                }
            }
            if let part = maps[member.name] {
                return (member.value.members ?? []).flatMap { entry in
                    part.doubts(entry.value, place + "." + entry.name.cut)
                }
            }
            return doubt(member.name, place).map { [$0] } ?? []
        }
    }

    private func doubt(_ name: String, _ place: String) -> CatalogDoubt? {
        guard !names.contains(where: { $0.isSame(as: name) }) else { return nil }
        let near = NearNames.near(name, among: names + objects.keys + lists.keys + maps.keys)
        guard let meant = near.first else { return nil }
        return CatalogDoubt(
            code: .unknownMember,
            path: place,
            detail: "nothing reads it; did \(part) mean \(meant)?"
        )
    }
}

extension Catalog {
    /// Members of a document that nothing reads and that are spelt nearly as one that is read.
    ///
    /// Cost: linear in the document.
    public static func misspeltMembers(in document: JSONValue) -> [CatalogDoubt] {
        CatalogMembers.document.doubts(document, "")
    }
}
