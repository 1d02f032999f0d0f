import Dispatch
import Entitlements
import EventLog
import Foundation
import Synchronization
import Testing

@testable import EntitlementLedger

/// Files of roll-ups.
struct `The cache of roll-ups` {
    // Each erasure forgets what was read of sealed parts.
    @Test func `forgets what was sealed for many erasures at once`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "roll-ups-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = RollUpCache(
            path: folder.path,
            log: MemoryLog(),
            identity: LedgerIdentity(
                id: [UInt8](repeating: 1, count: LedgerIdentity.idByteCount),
                origin: "test/log"
            ),
            secret: nil,
            isReadOnly: false
        )
        let sealed = RollUp.Kind.allCases.filter(\.readsSealed)
        let kind = try #require(sealed.first)
        let file = folder.appending(path: "\(kind.rawValue)-\(StoreEnvironment.production.name)")
        let faults = Mutex<[String]>([])
        for _ in 0..<300 {
            try Data("x".utf8).write(to: file)
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    try cache.forgetSealed()
                } catch {
                    faults.withLock { $0.append("\(error)") }
                }
            }
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        #expect(faults.withLock(\.self) == [])
        // Control: what cannot be removed is said.
        try FileManager.default.removeItem(at: folder)
        try Data("x".utf8).write(to: folder)
        #expect(throws: (any Error).self) { try cache.forgetSealed() }
    }
}
