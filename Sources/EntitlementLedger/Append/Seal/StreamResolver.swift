import EventLog

/// The numbers and keys of the streams that one decision names, each asked of the vault once: all
/// threads that decide share the vault's lock.
///
/// A class, since who decides and who seals share it; it is of one thread, and lives no longer than
/// the decision. What an erasure closes meanwhile the writer finds (C6).
final class StreamResolver {
    let vault: any Vault
    private var streams: [StreamName: UInt64] = [:]
    private var keys: [UInt64: StreamKeys] = [:]

    init(_ vault: any Vault) { self.vault = vault }

    /// The stream of a name; nil: it has none yet.
    func stream(of name: StreamName) throws -> UInt64? {
        if let known = streams[name] { return known }
        guard let stream = try vault.stream(of: name) else { return nil }
        streams[name] = stream
        return stream
    }

    /// The stream of a name; one that is new is reserved.
    func reserveStream(of name: StreamName) throws -> UInt64 {
        if let known = streams[name] { return known }
        let stream = try vault.reserveStream(of: name)
        streams[name] = stream
        return stream
    }

    /// The keys of a stream; nil where it is erased.
    func keys(of stream: UInt64) throws -> StreamKeys? {
        if let known = keys[stream] { return known }
        guard let keys = try vault.keys(of: stream) else { return nil }
        self.keys[stream] = keys
        return keys
    }
}
