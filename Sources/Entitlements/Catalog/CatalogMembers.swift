public import Encodings

/// The members of a part of a catalog document that are read; others are the app's own.
private struct CatalogMembers {
    /// What a part is called in a sentence.
    let part: String
    let names: [String]
    /// Members that are parts themselves.
    var children: [Child] = []

    struct Child {
        let name: String
        let form: Form
        let members: CatalogMembers

        init(_ name: String, _ form: Form, _ members: CatalogMembers) {
            self.name = name
            self.form = form
            self.members = members
        }
    }

    enum Form {
        case object
        case list
        /// By names of the document's own.
        case map
    }

    private static let feature: CatalogMembers = {
        let perUse = CatalogMembers(part: "perUse", names: ["amount", "unit"])
        let perPeriod = CatalogMembers(part: "perPeriod", names: ["count", "period", "timeZone"])
        let limit = CatalogMembers(
            part: "a limit",
            names: [],
            children: [Child("perUse", .object, perUse), Child("perPeriod", .object, perPeriod)]
        )
        return CatalogMembers(
            part: "a feature",
            names: ["id", "level"],
            children: [Child("limits", .map, limit)]
        )
    }()

    private static let product = CatalogMembers(
        part: "a product",
        names: ["id", "kind", "stores"],
        children: [
            Child(
                "unlocks",
                .object,
                CatalogMembers(part: "unlocks", names: ["features", "tier", "all"])
            )
        ]
    )

    private static let experiment: CatalogMembers = {
        let overrides = CatalogMembers(
            part: "overrides",
            names: ["offerings"],
            children: [Child("features", .list, feature)]
        )
        let variant = CatalogMembers(
            part: "a variant",
            names: ["id", "weight"],
            children: [Child("overrides", .object, overrides)]
        )
        return CatalogMembers(
            part: "an experiment",
            names: ["id"],
            children: [Child("variants", .list, variant)]
        )
    }()

    static let document = CatalogMembers(
        part: "the catalog",
        names: [],
        children: [
            Child("features", .list, feature), Child("products", .list, product),
            Child(
                "trials",
                .list,
                CatalogMembers(part: "a trial", names: ["id", "days", "features", "tier"])
            ),
            Child("experiments", .list, experiment),
            Child(
                "policy",
                .object,
                CatalogMembers(part: "the policy", names: ["claim", "renewalLeewaySeconds"])
            ),
        ]
    )

    /// The misspelt members of a part and of the parts below it, in the order of the document.
    func doubts(_ json: JSONValue?, _ path: String) -> [CatalogDoubt] {
        (json?.members ?? []).flatMap { member -> [CatalogDoubt] in
            let place = path.isEmpty ? member.name.cut : path + "." + member.name.cut
            if let child = children.first(where: { $0.name.isSame(as: member.name) }) {
                return child.doubts(member.value, place)
            }
            return doubt(member.name, place).map { [$0] } ?? []
        }
    }

    private func doubt(_ name: String, _ place: String) -> CatalogDoubt? {
        guard !names.contains(where: { $0.isSame(as: name) }) else { return nil }
        let near = NearNames.near(name, among: names + children.map(\.name))
        guard let meant = near.first else { return nil }
        return CatalogDoubt(
            code: .unknownMember,
            path: place,
            detail: "nothing reads it; did \(part) mean \(meant)?"
        )
    }
}

extension CatalogMembers.Child {
    fileprivate func doubts(_ json: JSONValue, _ path: String) -> [CatalogDoubt] {
        switch form {
        case .object: members.doubts(json, path)
        case .list:
            (json.array ?? []).enumerated().flatMap { index, element in
                members.doubts(element, "\(path)[\(index)]")
            }
        case .map:
            (json.members ?? []).flatMap { entry in
                members.doubts(entry.value, path + "." + entry.name.cut)
            }
        }
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
