import EventLog
import Testing

/// Parts of evidence that are kept once.
struct `Conformance of a log's shared parts` {
    private static func digest(_ text: String) -> Digest {
        TreeHash.attached(Array(text.utf8).span)
    }

    // law 1: what stands under a digest is never written again
    @Test(arguments: StorageBackend.allCases)
    func `a part stands from the first batch that brings it`(
        backend: StorageBackend
    ) async throws {
        var batches = try SampleLog([2, 3, 1]).batches
        batches[1].sharedParts = [
            (Self.digest("a"), [1, 2]), (Self.digest("b"), []), (Self.digest("a"), [3]),
        ]
        batches[2].sharedParts = [(Self.digest("a"), [9, 9]), (Self.digest("c"), [4])]
        let expected: [(String, [[UInt8]?])] = [
            ("a", [nil, [1, 2], [1, 2]]), ("b", [nil, [], []]), ("c", [nil, nil, [4]]),
            ("d", [nil, nil, nil]),
        ]
        try await ScratchStorage.with(backend) { storage in
            for (place, batch) in batches.enumerated() {
                _ = try storage.log.append(batch)
                for (text, parts) in expected {
                    #expect(try storage.log.sharedPart(Self.digest(text)) == parts[place])
                }
            }
            try storage.reopen()
            for (text, parts) in expected {
                #expect(try storage.log.sharedPart(Self.digest(text)) == parts[2])
            }
        }
    }

    // E2: a batch that is refused leaves nothing behind
    @Test(arguments: StorageBackend.allCases)
    func `a batch that does not stand brings no part`(backend: StorageBackend) async throws {
        var batch = try SampleLog([2, 3]).batches[1]
        batch.sharedParts = [(Self.digest("a"), [1])]
        try await ScratchStorage.with(backend) { storage in
            #expect(throws: LogStorageFault.self) { _ = try storage.log.append(batch) }
            let part = try storage.log.sharedPart(Self.digest("a"))
            #expect(part == nil)
        }
    }
}
