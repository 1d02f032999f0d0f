import Entitlements
import Foundation
import LedgerAPI
import ModelSupport
import Testing

@testable import EntitlementClient

/// What is kept on the device (rows Z10, B8, Z17).
struct `An offline cache` {
    private static let server = ScriptedServer()

    /// Files as a client left them.
    private static func filled() async -> StoreSetup {
        let setup = StoreSetup(server: server)
        let store = setup.store()
        await store.start()
        await store.stop()
        return setup
    }

    // row Z10: none accepted, none fatal
    @Test(arguments: [CacheFile.snapshot, .gates, .keys, .seen])
    func `uses no file that was changed, and stops for none`(_ file: CacheFile) async throws {
        let setup = await Self.filled()
        let good = try #require(setup.storage[file])
        let keys = try Self.server.authority.keys()
        let whole = try Self.server.authority.entitlements()
        let cache = OfflineCache(storage: setup.storage, notices: setup.notices)
        var random = SplitMix64(seed: UInt64(file.rawValue.utf8.count))
        var refused = 0
        for round in 0..<1000 {
            setup.storage[file] = random.mutated(good)
            let isChanged = setup.storage[file] != good
            let trusted = file == .keys ? cache.keys() : keys
            let loaded = cache.load(for: SnapshotAuthority.subject, by: trusted)
            // Whatever is used is what the server signed.
            if let snapshot = loaded.snapshot {
                #expect(snapshot.entitlements.features == whole.features, "round \(round)")
                #expect(file != .snapshot || !isChanged, "round \(round)")
            }
            if file == .gates, isChanged { #expect(loaded.gates == nil, "round \(round)") }
            if setup.storage.aside(file) != nil { refused += 1 }
            try setup.storage.remove(file)
            await Self.refill(setup, beside: file)
        }
        #expect(refused > 500, "what does not verify is put aside")
        // The control: unchanged, all of it is used.
        setup.storage[file] = good
        let loaded = cache.load(for: SnapshotAuthority.subject, by: cache.keys())
        #expect(loaded.snapshot?.entitlements.source == .snapshot && loaded.gates != nil)
        #expect(loaded.newestSeen == noon)
    }

    /// Puts back what a round has put aside of other files.
    private static func refill(_ setup: StoreSetup, beside file: CacheFile) async {
        for other in CacheFile.allCases where other != file {
            if let bytes = setup.storage.aside(other) { setup.storage[other] = bytes }
        }
    }

    // row 9.4
    @Test func `gives nobody what another customer left`() async throws {
        let setup = await Self.filled()
        let cache = OfflineCache(storage: setup.storage, notices: setup.notices)
        let other = SnapshotSubject(customer: "bob-1", environment: .production)
        let loaded = cache.load(for: other, by: try Self.server.authority.keys())
        #expect(loaded.snapshot == nil && loaded.gates == nil)
        #expect(setup.storage[.snapshot] == nil && setup.storage.aside(.snapshot) == nil)
    }

    @Test func `tells that a disk is full, and the app goes on`() async throws {
        let setup = StoreSetup()
        setup.storage.fault = MemoryStorage.diskFull
        let store = setup.store()
        let told = await setup.told { #expect(await store.start() == .refreshed(noon)) }
        #expect(told.contains(.cacheFailed(MemoryStorage.diskFull)))
        #expect(store.gate.isOpen("export"))
        await store.switchCustomer(to: nil)
        #expect(!store.gate.isOpen("export"))
        await store.stop()
    }

    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(component: "client-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    @Test func `in files is found again, and put aside beside its place`() async throws {
        try await Self.withFolder { path in
            let files = FileStorage(path: path + "/cache")
            #expect(try files.read(.snapshot) == nil)
            try files.write([1, 2], to: .snapshot)
            try files.write([3], to: .snapshot)
            try files.append([4], to: .snapshot)
            try files.append([5], to: .queue)
            #expect(try files.read(.snapshot) == [3, 4] && files.read(.queue) == [5])
            let mode = try FileManager.default.attributesOfItem(atPath: path + "/cache")
            #expect(mode[.posixPermissions] as? Int == 0o700)
            for bytes in [[3, 4], [6]] as [[UInt8]] {
                try files.write(bytes, to: .snapshot)
                try files.putAside(.snapshot)
                #expect(try files.read(.snapshot) == nil)
                let aside = try Data(
                    contentsOf: URL(filePath: path + "/cache/snapshot.jws.refused")
                )
                #expect(Array(aside) == bytes)
            }
            // What was under way when the program was killed, as Foundation names it.
            try Data([7]).write(to: URL(filePath: path + "/cache/.dat.nosync1a2b.Xy"))
            for file in CacheFile.allCases { try files.remove(file) }
            let left = try FileManager.default.contentsOfDirectory(atPath: path + "/cache")
            // Locks hold nothing, and stay.
            #expect(left.sorted() == ["queue.lock", "snapshot.jws.lock"])
        }
    }

    // The folder cannot be made, since a file stands there: nobody, root included, can write.
    @Test func `in a folder that cannot be written is told, with a code and no path`() async throws
    {
        try await Self.withFolder { path in
            try Data().write(to: URL(filePath: path))
            var setup = StoreSetup()
            setup.files = FileStorage(path: path + "/cache")
            let store = setup.store()
            let told = await setup.told { #expect(await store.start() == .refreshed(noon)) }
            let errors = told.compactMap { notice -> ServiceError? in
                guard case .cacheFailed(let error) = notice else { return nil }
                return error
            }
            #expect(errors.count >= 3 && errors.allSatisfy { $0.code == .databaseError })
            #expect(errors.allSatisfy { $0.nativeCode?.contains("/") == true })
            #expect(errors.allSatisfy { $0.nativeCode?.contains(path) == false })
            #expect(store.gate.isOpen("export"))
            await store.stop()
        }
    }
}
