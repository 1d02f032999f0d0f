// The fastest index: a hash table that is a file, for answers on the caller's thread.

internal import Synchronization

/// A flat open-addressing hash table in a mapped file.
///
/// One process writes; any number of threads and processes read without locks while it does. Keys
/// are 16 bytes of a digest, payloads all have one size. Nothing is ever removed.
///
/// A table is derived and disposable. It is **dirty** from the first change until ``seal(identity:)``
/// and a dirty one is never opened again. Do not shorten its file while it is open; to replace it,
/// ``create(path:slots:payloadBytes:identity:)`` makes a new file under the name.
public final class MappedTable: Sendable {
    /// The sizes a payload can have, in bytes.
    public static let payloadLimit = 1...256

    /// The size of a payload, in bytes.
    public let payloadBytes: Int

    /// The number of slots, a power of two.
    public var capacity: Int { slots.capacity }

    private struct State {
        var identity: Identity
        var isDirty: Bool
    }

    private let file: MappedFile
    private let slots: MappedTableSlots
    /// Held by the one thread that writes.
    private let state: Mutex<State>

    private init(file: MappedFile, header: MappedTableHeader) {
        self.file = file
        payloadBytes = header.payloadBytes
        slots = MappedTableSlots(
            file: file,
            capacity: header.capacity,
            payloadBytes: header.payloadBytes
        )
        state = Mutex(State(identity: header.identity, isDirty: !header.isClean))
    }

    /// Makes an empty, dirty table in place of the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The file; one that exists is unlinked, who has it open keeps it.
    ///   - slots: The number of slots, rounded up to a power of two; plan for 4/3 of the keys.
    ///   - payloadBytes: The size of every payload; a slot takes 24 bytes more.
    ///   - identity: What the table is derived from.
    /// - Returns: The table, writable.
    /// - Throws: ``MappedTableError``; code `ENOSPC` if the disk has no room for all slots.
    /// - Precondition: `slots` is in `1...2^40`, `payloadBytes` in ``payloadLimit``.
    public static func create(
        path: String,
        slots: Int,
        payloadBytes: Int,
        identity: Identity
    ) throws(MappedTableError) -> MappedTable {
        precondition(slots > 0 && slots <= 1 << 40, "a possible number of slots")
        precondition(payloadLimit.contains(payloadBytes), "a possible size of a payload")
        var capacity = 8
        while capacity < slots { capacity *= 2 }
        let header = MappedTableHeader(
            payloadBytes: payloadBytes,
            capacity: capacity,
            isClean: false,
            identity: identity,
            count: 0
        )
        guard let count = header.fileByteCount else {
            preconditionFailure("the limits keep a table below 2^63 bytes")
        }
        let file = try MappedFile.create(path: path, count: count)
        header.write(to: file)
        return MappedTable(file: file, header: header)
    }

    /// Opens a sealed table.
    ///
    /// - Returns: `nil` if there is none to be trusted: missing, of another format or version,
    ///   dirty, with a damaged header or of the wrong length.
    /// - Throws: ``MappedTableError`` if the system refuses to open or map the file.
    public static func open(
        path: String,
        isWritable: Bool
    ) throws(MappedTableError) -> MappedTable? {
        guard
            let file = try MappedFile.open(
                path: path,
                isWritable: isWritable,
                minimumCount: MappedTableHeader.byteCount
            ),
            let header = MappedTableHeader(file: file)
        else { return nil }
        return MappedTable(file: file, header: header)
    }

    /// What the table was derived from, as of when it was created, opened or sealed by this object.
    public var identity: Identity { state.withLock { $0.identity } }

    /// Whether the file is sealed now; false once its writer, in any process, has changed it.
    public var isClean: Bool { file.load(MappedTableHeader.stateOffset) == 1 }

    /// The number of keys.
    public var count: Int {
        Int(truncatingIfNeeded: file.load(MappedTableHeader.countOffset))
    }

    /// Lends the payload of a 16-byte key to `body`, from a copy on the stack.
    ///
    /// Allocates nothing, takes no lock, O(1).
    ///
    /// - Parameters:
    ///   - high: The first 8 bytes of the key, evenly distributed: their high bits are the hash.
    ///   - low: The other 8 bytes.
    ///   - body: Is lent exactly ``payloadBytes`` bytes.
    /// - Returns: What `body` returns; `nil` if the table has no such key, or its slot is damaged
    ///   or half-written by a writer that died or waits for a processor: nothing is known here, so
    ///   ask the source.
    @inlinable
    public func read<Result>(
        _ high: UInt64,
        _ low: UInt64,
        _ body: (Span<UInt8>) -> Result
    ) -> Result? {
        unsafe withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { scratch in
            guard unsafe copyPayload(high, low, into: scratch) else { return nil }
            let payload = unsafe UnsafeRawBufferPointer(rebasing: scratch[..<payloadBytes])
            return unsafe body(payload.bindMemory(to: UInt8.self).span)
        }
    }

    @usableFromInline
    func copyPayload(
        _ high: UInt64,
        _ low: UInt64,
        into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        unsafe slots.copyPayload(high, low, into: target)
    }

    /// Sets the payload of a key; readers see the old or the new one, never a mixture.
    ///
    /// A sealed table becomes dirty first. O(1).
    ///
    /// - Throws: ``MappedTableError/full`` if a new key would take more than three quarters of the
    ///   slots; `readOnly`; `system` if the dirty mark cannot reach the disk.
    /// - Precondition: `payload` has ``payloadBytes`` bytes.
    public func write(
        _ high: UInt64,
        _ low: UInt64,
        _ payload: Span<UInt8>
    ) throws(MappedTableError) {
        precondition(payload.count == payloadBytes, "a payload has the size of the table's")
        try changing { (state) throws(MappedTableError) in
            guard let place = slots.place(high, low) else { throw .full }
            let newCount = count + (place.isFree ? 1 : 0)
            guard !place.isFree || newCount * 4 <= capacity * 3 else { throw .full }
            try markDirty(&state)
            slots.write(high, low, payload, at: place.offset)
            file.store(UInt64(newCount), MappedTableHeader.countOffset)
        }
    }

    /// Marks the table so that it is not opened again until it is sealed.
    ///
    /// The mark is on the disk before this returns; on a dirty table it does nothing. ``write(_:_:_:)``
    /// does it by itself.
    ///
    /// - Throws: ``MappedTableError``.
    public func markDirty() throws(MappedTableError) {
        try changing { (state) throws(MappedTableError) in try markDirty(&state) }
    }

    /// Puts everything on the disk and marks the table clean.
    ///
    /// - Parameter identity: What the table now is derived from.
    /// - Throws: ``MappedTableError``.
    public func seal(identity: Identity) throws(MappedTableError) {
        try changing { (state) throws(MappedTableError) in
            try markDirty(&state)
            try file.synchronize()
            let header = MappedTableHeader(
                payloadBytes: payloadBytes,
                capacity: capacity,
                isClean: true,
                identity: identity,
                count: count
            )
            header.write(to: file)
            state = State(identity: identity, isDirty: false)
            try file.synchronize(first: MappedTableHeader.byteCount)
        }
    }

    private func changing(
        _ body: (inout State) throws(MappedTableError) -> Void
    ) throws(MappedTableError) {
        guard file.isWritable else { throw .readOnly }
        try state.withLock { (state) throws(MappedTableError) in try body(&state) }
    }

    private func markDirty(_ state: inout State) throws(MappedTableError) {
        guard !state.isDirty else { return }
        file.store(0, MappedTableHeader.stateOffset)
        try file.synchronize(first: MappedTableHeader.byteCount)
        state.isDirty = true
    }
}
