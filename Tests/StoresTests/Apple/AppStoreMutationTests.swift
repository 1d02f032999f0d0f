import Entitlements
import ModelSupport
import StoreSimulator
import Stores
import Testing

struct `A message that was tampered with` {
    /// Mutations of one message, split over some tasks.
    private static let rounds = 10_000
    private static let tasks = 4

    // row 7.4
    @Test func `is never accepted, wherever and however it is changed`() async throws {
        let jws = try AppStoreSample.store().transaction(start: AppStoreSample.start)
        let verifier = try AppStoreSample.verifier()
        #expect(await verifier.transaction(jws, now: AppStoreSample.now).refusal == nil)
        let seed = UInt64.random(in: .min ... .max)
        print("App Store mutations from seed \(seed)")
        let codes = await withTaskGroup(of: [SignalRefusal.Code: Int].self) { group in
            for task in 0..<Self.tasks {
                group.addTask {
                    var generator = SplitMix64(seed: seed &+ UInt64(task))
                    var codes: [SignalRefusal.Code: Int] = [:]
                    for _ in 0..<(Self.rounds / Self.tasks) {
                        let mutated = Self.mutated(jws, &generator)
                        guard mutated != jws else { continue }
                        let outcome = await verifier.transaction(mutated, now: AppStoreSample.now)
                        if let code = outcome.refusal {
                            codes[code, default: 0] += 1
                        } else {
                            Issue.record("accepted: \(String(decoding: mutated, as: UTF8.self))")
                        }
                    }
                    return codes
                }
            }
            return await group.reduce(into: [SignalRefusal.Code: Int]()) {
                $0.merge($1) { $0 + $1 }
            }
        }
        print(codes.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", "))
        #expect(codes.values.reduce(0, +) > Self.rounds * 9 / 10)
        #expect(codes.count >= 4)
    }

    /// One change: a bit, a byte, a cut, a doubled or a moved piece.
    private static func mutated(_ jws: [UInt8], _ generator: inout SplitMix64) -> [UInt8] {
        var bytes = jws
        // Half of all in what is signed, which is the shorter part.
        let dot = jws.firstIndex(of: UInt8(ascii: ".")) ?? 0
        let start = Bool.random(using: &generator) ? dot : 0
        let index = Int.random(in: start..<bytes.count, using: &generator)
        let other = Int.random(in: start..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = Self.digits.randomElement(using: &generator) ?? 0
        case 2: bytes.removeSubrange(min(index, other)..<max(index, other))
        case 3: bytes.insert(contentsOf: bytes[min(index, other)..<max(index, other)], at: index)
        case 4: bytes.swapAt(index, other)
        default: bytes.removeLast(bytes.count - index)
        }
        return bytes
    }

    private static let digits = Array("ABCDEFabcdef0123456789-_=.".utf8)
}
