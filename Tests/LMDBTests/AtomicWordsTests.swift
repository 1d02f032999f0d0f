import Dispatch
import LMDB
import Testing

@Suite struct `Words that only grow` {
    @Test func `keep the highest value that any thread raised them to`() {
        let words = AtomicWords(count: 3)
        #expect((0..<3).allSatisfy { words[$0] == 0 })
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for value in 0..<1000 { words.raise(1, to: UInt64(value * 4 + thread)) }
        }
        #expect(words[1] == 3999)
        words.raise(1, to: 5)
        #expect(words[1] == 3999)
        #expect(words[0] == 0 && words[2] == 0)
    }
}
