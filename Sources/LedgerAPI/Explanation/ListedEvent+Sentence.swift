import Encodings
import Entitlements

extension ListedEvent {
    /// What it is, in a few words; its `type` where a later version named it.
    package func title(in language: Language) -> String {
        EventKind(name: type).map { EventSentence.title(of: $0)[language] } ?? type
    }

    /// Every value that is shown of it, in English; empty: there is none.
    package var details: String {
        guard type != EventKind.catalogPublished.name else { return "" }
        var values: [Entitlements.Field: FieldValue] = [:]
        for member in data.members ?? [] {
            guard let field = Entitlements.Field(name: member.name) else { continue }
            values[field] = FieldValue(shown: member.value, of: field)
        }
        return EventSentence.details(values)
    }
}

extension FieldValue {
    /// A value as an answer shows it; nil: it is erased or hidden.
    fileprivate init?(shown json: JSONValue, of field: Entitlements.Field) {
        switch json {
        case .string(let text):
            let instant = field.shape == .instant ? Instant(rfc3339: text) : nil
            self = instant.map { .instant($0) } ?? .text(text)
        case .number(let digits):
            guard let number = Int64(digits) else { return nil }
            self = .integer(number)
        case .bool(let flag): self = .flag(flag)
        case .array(let texts): self = .texts(texts.compactMap(\.string))
        case .object(let members):
            self = .durations(
                members.compactMap { member in
                    member.value.integer.map { Duration(name: member.name, milliseconds: $0) }
                }
            )
        case .null: return nil
        }
    }
}
