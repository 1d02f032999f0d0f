import Crypto
import EventLog
import Salvage
import Testing

/// A root counts only where the log's key signed it.
struct `Checkpoints that somebody kept` {
    private static let log = SampleLog(9)
    private let signer: NoteSigner

    init() throws { signer = try NoteSigner(name: "ledger.example/test", privateKey: .init()) }

    private func sizes(_ notes: [String]) -> [UInt64] {
        let name = "ledger.example/test"
        return SignedNotes(among: notes, by: signer.verifierKey, origin: name).checkpoints
            .map(\.size)
    }

    @Test func `are taken in the order of their sizes, each once`() throws {
        let notes = try [9, 3, 9, 1].map {
            try signer.sign(Self.log.checkpoint($0).text).description
        }
        #expect(sizes(notes) == [1, 3, 9])
    }

    @Test func `are passed over where another key signed, or the text is another`() throws {
        let other = try NoteSigner(name: "ledger.example/test", privateKey: .init())
        let text = Self.log.checkpoint(3).text
        let (own, foreign) = (
            try signer.sign(text).description, try other.sign(text).description
        )
        #expect(sizes([foreign]) == [])
        #expect(sizes([own.replacing("\n3\n", with: "\n4\n")]) == [])
        #expect(sizes(["", "no note"]) == [])
        let elsewhere = Checkpoint(origin: "other", size: 3, root: Self.log.edge(3).root)
        #expect(sizes([try signer.sign(elsewhere.text).description]) == [])
        // The control
        #expect(sizes([foreign, own]) == [3])
    }
}
