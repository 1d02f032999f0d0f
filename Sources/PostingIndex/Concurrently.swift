import Dispatch
import FoundationEssentials
import Synchronization

/// Work in independent parts, on all cores.
package enum Concurrently {
    /// Cores of this machine.
    package static let width = max(1, ProcessInfo.processInfo.activeProcessorCount)

    /// Runs a body for each number below a count, at once, and returns what they gave, in order.
    ///
    /// - Throws: what the first of them, by number, threw; all have ended by then.
    package static func map<Part: Sendable, Failure: Error>(
        _ count: Int,
        _ body: @Sendable (Int) throws(Failure) -> Part
    ) throws(Failure) -> [Part] {
        let results = Mutex<[Result<Part, Failure>?]>(Array(repeating: nil, count: count))
        withoutActuallyEscaping(body) { body in
            DispatchQueue.concurrentPerform(iterations: count) { number in
                let result = Result { () throws(Failure) in try body(number) }
                results.withLock { $0[number] = result }
            }
        }
        var parts: [Part] = []
        for result in results.withLock({ $0 }) {
            if let part = try result?.get() { parts.append(part) }
        }
        return parts
    }
}
