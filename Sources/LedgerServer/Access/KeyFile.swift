import Encodings
package import Entitlements
import EventLog
import FoundationEssentials

/// The API keys of a ledger as they stand in `keys.json` of its directory.
///
/// `{"format":1,"keys":[{"id","name","scopes","createdAt","expiresAt","digest"}…]}`, all members
/// present. A member that is not known may restrict a key, so it is refused, not ignored.
package struct KeyFile: Hashable, Sendable {
    /// In the order of their making.
    package private(set) var keys: [APIKey] = []

    /// The file's name in a ledger's directory.
    package static let name = "keys.json"
    /// Keys that a file may hold at most.
    package static let keyLimit = 1000
    /// Bytes that a file may have at most; a thousand keys need a third of it.
    package static let byteLimit = 1 << 20
    static let format: Int64 = 1

    /// A file without keys.
    package init() {}

    /// Adds a key; false if the file is full.
    ///
    /// - Precondition: no key has its id; ids are drawn from 60 random bits.
    package mutating func add(_ key: APIKey) -> Bool {
        precondition(!keys.contains { $0.id == key.id }, "an id names one key")
        guard keys.count < Self.keyLimit else { return false }
        keys.append(key)
        return true
    }

    /// Takes a key out; false if there is none of that id.
    package mutating func revoke(_ id: String) -> Bool {
        guard let place = keys.firstIndex(where: { $0.id == id }) else { return false }
        keys.remove(at: place)
        return true
    }

    /// Reads the file of a ledger's directory; without one there are no keys.
    ///
    /// - Throws: `InputFault`.
    package static func read(at path: String) throws(InputFault) -> KeyFile {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(filePath: path + "/" + name)))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return KeyFile()
        } catch {
            throw InputFault(.malformed, "", "it cannot be read")
        }
        return try KeyFile(parsing: bytes)
    }
}

extension KeyFile {
    /// The file's bytes.
    package var bytes: [UInt8] {
        let json = JSONValue.members([
            "format": .integer(Self.format), "keys": .array(keys.map(Self.json)),
        ])
        return Array((json.description + "\n").utf8)
    }

    private static func json(_ key: APIKey) -> JSONValue {
        .members([
            "id": .string(key.id), "name": .optional(key.name),
            "scopes": .strings(key.scopes.named.map(\.rawValue)),
            "createdAt": .instant(key.createdAt), "expiresAt": .instant(key.expiresAt),
            "digest": .string(Base64.encode(key.digest.span, .url)),
        ])
    }

    /// Reads the file's bytes.
    ///
    /// - Throws: `InputFault`.
    package init(parsing bytes: [UInt8]) throws(InputFault) {
        guard bytes.count <= Self.byteLimit else {
            throw InputFault(.malformed, "", "it is too large")
        }
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw InputFault(
                .malformed,
                "",
                "it is not JSON: \(error.message) at byte \(error.offset)"
            )
        }
        let list: [JSONValue]
        do {
            let reader = try ObjectReader(json, of: Self.members)
            _ = try reader.required("format", "expected \(Self.format)") {
                $0.integer == Self.format ? Self.format : nil
            }
            list = try reader.required("keys", "expected an array", \.array)
        } catch {
            throw InputFault(.malformed, error.path, "it is not of format \(Self.format)")
        }
        guard list.count <= Self.keyLimit else {
            throw InputFault(.malformed, "", "it has too many keys")
        }
        for (index, element) in list.enumerated() {
            let key: APIKey
            do {
                key = try Self.key(element, at: "keys[\(index)]")
            } catch {
                throw InputFault(.malformed, error.path, "key \(index) is not one")
            }
            guard !keys.contains(where: { $0.id == key.id }) else {
                throw InputFault(.malformed, "", "key \(index) has the id of another")
            }
            keys.append(key)
        }
    }

    private static let members: Set<Name> = ["format", "keys"]
    private static let keyMembers: Set<Name> = [
        "id", "name", "scopes", "createdAt", "expiresAt", "digest",
    ]

    /// Every member is there; what may lack is null.
    private static func key(_ json: JSONValue, at path: String) throws(InputFault) -> APIKey {
        let reader = try ObjectReader(json, at: path, of: keyMembers)
        return APIKey(
            id: try reader.required("id", "expected an id of a key") { json in
                json.string.flatMap { APIKey.isID($0.utf8) ? $0 : nil }
            },
            name: try reader.required("name", "expected a name or null") { json in
                orNull(json) { APIKey.isValidName($0) ? $0 : nil }
            },
            scopes: try reader.required("scopes", "expected scopes") { json in
                let scopes = json.array?.compactMap { $0.string.flatMap(Scope.init(rawValue:)) }
                guard let scopes, !scopes.isEmpty, scopes.count == json.array?.count else {
                    return nil
                }
                return ScopeSet(scopes)
            },
            createdAt: try reader.required("createdAt", "expected an instant") { json in
                json.string.flatMap(Instant.init(rfc3339:))
            },
            expiresAt: try reader.required("expiresAt", "expected an instant or null") { json in
                orNull(json) { Instant(rfc3339: $0) }
            },
            digest: try reader.required("digest", "expected a digest") { json in
                json.string.flatMap { Base64.decode($0, .url) }.flatMap {
                    $0.count == 32 ? $0 : nil
                }
            }
        )
    }

    /// What a text stands for, or that nothing stands there; nil: it is neither.
    private static func orNull<Value>(
        _ json: JSONValue,
        _ read: (String) -> Value?
    ) -> Value?? {
        if json.isNull { return .some(nil) }
        guard let value = json.string.flatMap(read) else { return nil }
        return .some(value)
    }
}
