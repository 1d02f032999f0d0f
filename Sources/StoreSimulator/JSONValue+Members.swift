import Encodings
import Entitlements

extension JSONValue {
    /// An instant as the stores write it.
    static func milliseconds(_ instant: Instant) -> JSONValue {
        .integer(instant.milliseconds)
    }

    /// The object with members replaced or added, without those that are null.
    func changed(by changes: JSONValue) -> JSONValue {
        let changed = changes.members ?? []
        let names = Set(changed.map(\.name))
        let kept = (members ?? []).filter { !names.contains($0.name) }
        return .object((kept + changed).filter { !$0.value.isNull })
    }
}
