package import Encodings

extension Catalog {
    /// Members of a document that nothing reads and that are spelt nearly as one that is read.
    ///
    /// Cost: linear in the document.
    package static func misspeltMembers(in document: JSONValue) -> [CatalogDoubt] {
        CatalogPart.document.doubts(document, "")
    }
}

extension CatalogPart {
    /// The misspelt members of a part and of the parts below it, in the order of the document.
    fileprivate func doubts(_ json: JSONValue, _ path: String) -> [CatalogDoubt] {
        (json.members ?? []).flatMap { member -> [CatalogDoubt] in
            let place = path.isEmpty ? member.name.cut : path + "." + member.name.cut
            if let known = self.member(member.name) {
                return known.form.doubts(member.value, place)
            }
            return doubt(member.name, place).map { [$0] } ?? []
        }
    }

    private func doubt(_ member: String, _ place: String) -> CatalogDoubt? {
        guard let name,
            let meant = NearNames.near(member, among: members.map(\.name)).first
        else { return nil }
        return CatalogDoubt(
            code: .unknownMember,
            path: place,
            detail: "nothing reads it; did \(name) mean \(meant)?"
        )
    }
}

extension CatalogPart.Form {
    fileprivate func doubts(_ json: JSONValue, _ path: String) -> [CatalogDoubt] {
        switch self {
        case .part(let part): part.doubts(json, path)
        case .orNull(let form): form.doubts(json, path)
        case .list(let form), .some(let form):
            (json.array ?? []).enumerated().flatMap { index, element in
                form.doubts(element, "\(path)[\(index)]")
            }
        case .map(let form, _):
            (json.members ?? []).flatMap { entry in
                form.doubts(entry.value, path + "." + entry.name.cut)
            }
        case .id, .store, .text, .duration, .choice, .integer, .flag, .tiers, .transition: []
        }
    }
}
