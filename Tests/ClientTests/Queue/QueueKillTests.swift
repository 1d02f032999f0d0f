import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Synchronization
import Testing

@testable import EntitlementClient

/// A program that is ended anywhere: each byte of its file, each call, each answer, each finishing.
struct `A sync queue that is killed` {
    /// After so many bytes and calls nothing of the program reaches anybody any more.
    private final class Life: Sendable {
        private let left: Mutex<Int>
        private let spent = Mutex(0)

        init(_ units: Int) { left = Mutex(units) }

        /// How many units of some get through.
        func take(_ count: Int) -> Int {
            spent.withLock { $0 += count }
            return left.withLock { left in
                let taken = min(left, count)
                left -= taken
                // A piece ends it.
                if taken < count { left = 0 }
                return taken
            }
        }

        var units: Int { spent.withLock(\.self) }
    }

    /// Files that end in the middle of a line where the program does.
    private struct MortalStorage: CacheStorage {
        let life: Life
        let files: MemoryStorage

        func read(_ file: CacheFile) throws(ServiceError) -> [UInt8]? { try files.read(file) }
        func write(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError) {
            if life.take(bytes.count) == bytes.count { try files.write(bytes, to: file) }
        }
        func append(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError) {
            try files.append(Array(bytes.prefix(life.take(bytes.count))), to: file)
        }
        func remove(_ file: CacheFile) throws(ServiceError) {
            if life.take(1) == 1 { try files.remove(file) }
        }
        func putAside(_ file: CacheFile) throws(ServiceError) {
            if life.take(1) == 1 { try files.putAside(file) }
        }
    }

    /// What stays when the program ends.
    private struct Device: Sendable {
        let server = ScriptedServer()
        let files = MemoryStorage()
        let time = HeldTime()
    }

    private static let transactions = ["1", "2"].map { sampleTransaction($0) }

    private static func run(_ device: Device, _ life: Life) async -> [StoreTransaction] {
        let transport = device.server.transport
        let finished = FinishedList()
        let queue = SyncQueue(
            SnapshotAuthority.customer,
            storage: MortalStorage(life: life, files: device.files),
            connection: ServerConnection(
                url: "https://ledger.test",
                transport: { request in
                    guard life.take(1) == 1 else { return nil }
                    let response = await transport(request)
                    return life.take(1) == 1 ? response : nil
                },
                time: device.time.time,
                token: { "token" }
            ),
            time: device.time.time,
            notices: Broadcast(.bufferingNewest(1)),
            finish: { transaction in if life.take(1) == 1 { finished.add(transaction) } }
        )
        await queue.start {}
        for transaction in transactions { await queue.add(.claim(transaction)) }
        await queue.send()
        await queue.stop()
        return finished.all
    }

    private final class FinishedList: Sendable {
        private let list = Mutex<[StoreTransaction]>([])
        func add(_ transaction: StoreTransaction) { list.withLock { $0.append(transaction) } }
        var all: [StoreTransaction] { list.withLock(\.self) }
    }

    // rows 3.5, ES5
    @Test func `loses nothing, and hands nothing in under a second key`() async throws {
        let whole = Life(.max)
        let control = Device()
        let finished = await Self.run(control, whole)
        #expect(finished == Self.transactions, "each once, where nothing ends it")
        #expect(whole.units > 1000)
        var twice = 0
        for units in 0..<whole.units {
            let device = Device()
            let first = await Self.run(device, Life(units))
            // What was finished was recorded before.
            let known = device.server.recorded
            #expect(first.allSatisfy { known[$0.signed] != nil }, "\(units)")
            device.time.pass(to: noon.plus(days: 1))
            // The store hands in again what was not finished; the queue knows what it has.
            let second = await Self.run(device, Life(.max))
            let recorded = device.server.recorded
            #expect(recorded.count == 2, "\(units)")
            #expect(recorded.values.allSatisfy { $0.count == 1 }, "\(units): a second key")
            let all = first + second
            #expect(Set(texts: all.map(\.id)).count == 2, "\(units): not finished")
            // Ended between the finishing and its note, it is finished again, which a store takes.
            twice += all.count - 2
        }
        #expect(twice > 0 && twice < whole.units / 2)
    }

    // rows 3.5, ES5: damaged anywhere, it is a queue all the same
    @Test func `with a damaged file uses what holds, and says so`() async throws {
        let device = Device()
        device.server.isAway = true
        _ = await Self.run(device, Life(.max))
        let good = try #require(device.files[.queue])
        var random = SplitMix64(seed: 31)
        var (damaged, intact) = (0, 0)
        let known = QueueFile(good).calls
        #expect(known.count == 2)
        for round in 0..<3000 {
            let file = QueueFile(random.mutated(good))
            if file.isDamaged || file.isTorn { damaged += 1 }
            for call in file.calls {
                // Whatever is used is what was written.
                let same = known.contains { $0.id.isSame(as: call.id) && $0.task == call.task }
                #expect(same, "round \(round)")
                intact += 1
            }
        }
        #expect(damaged > 2000 && intact > 1000)
    }

    // A number of a file reaches nothing that traps.
    @Test func `with a file that tells of no end of tries goes on`() async throws {
        let device = Device()
        device.server.isAway = true
        var call = QueuedCall(
            id: "1",
            .claim(sampleTransaction()),
            of: SnapshotAuthority.customer,
            verifiedAt: noon
        )
        call.attempts = .max
        device.files[.queue] = QueueFile.bytes([call])
        _ = await Self.run(device, Life(.max))
        let file = QueueFile(try #require(device.files[.queue]))
        #expect(file.calls.first?.id == "1" && file.calls.first?.phase == .attention)
    }
}
