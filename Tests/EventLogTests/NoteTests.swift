import Crypto
import Encodings
import EventLog
import Foundation
import Testing

// row Z4: C2SP signed-note and tlog-checkpoint

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence))
struct NoteVectorTests {
    private struct Notes: Decodable {
        struct Note: Decodable {
            var vkeys: [String]
            var note: String
            var why: String?
        }
        struct Key: Decodable {
            var vkey: String
            var why: String
        }
        var signerKey: String
        var good: [Note]
        var badVkeys: [Key]
        var badNotes: [Note]
    }

    private let notes: Notes

    init() throws {
        notes = try Vectors.json("signed-note/signed-note.json")
    }

    @Test func `a good note is verified and written back byte for byte`() throws {
        for row in notes.good {
            let keys = try row.vkeys.map { try VerifierKey(parsing: $0) }
            #expect(keys.map(\.text) == row.vkeys)
            let note = try SignedNote.parse(row.note)
            #expect(note.description == row.note)
            let verified = try note.verified(by: keys)
            #expect(verified.keys == keys)
            #expect(row.note.hasPrefix(verified.text + "\n"))
        }
        #expect(notes.good.count == 3)
    }

    @Test func `a bad note is refused`() throws {
        for row in notes.badNotes {
            let keys = try row.vkeys.map { try VerifierKey(parsing: $0) }
            #expect(throws: NoteFault.self, "\(row.why ?? "")") {
                try SignedNote.parse(row.note).verified(by: keys)
            }
        }
        #expect(notes.badNotes.count == 4)
    }

    @Test func `a bad key is refused`() {
        for row in notes.badVkeys {
            #expect(throws: NoteFault.self, "\(row.why)") { try VerifierKey(parsing: row.vkey) }
        }
        #expect(notes.badVkeys.count == 2)
    }

    #if !canImport(CryptoKit)
    @Test func `signing gives the bytes that Go gives`() throws {
        let parts = notes.signerKey.split(separator: "+", maxSplits: 4)
        let seed = try #require(Base64.decode(String(parts[4]))).dropFirst()
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: Array(seed))
        let signer = try NoteSigner(name: String(parts[2]), privateKey: key)
        #expect(signer.verifierKey.text == notes.good[0].vkeys[0])
        let text = try SignedNote.parse(notes.good[0].note).text
        #expect(try signer.sign(text).description == notes.good[0].note)
    }
    #endif
}

@Suite struct NoteTests {
    private let signer: NoteSigner
    private let text = "ledger.example/test\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"

    init() throws {
        signer = try NoteSigner(name: "ledger.example/test", privateKey: .init())
    }

    @Test func `a flipped bit anywhere in a note is refused`() throws {
        let note = Array(try signer.sign(text).description.utf8)
        for bit in 0..<note.count * 8 {
            var changed = note
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let forged = String(validating: changed, as: UTF8.self) else { continue }
            #expect(throws: NoteFault.self, "bit \(bit)") {
                try SignedNote.parse(forged).verified(by: [signer.verifierKey])
            }
        }
    }

    @Test func `unknown signatures are ignored and one known signature is enough`() throws {
        let other = try NoteSigner(name: "ledger.example/test", privateKey: .init())
        let witness = try NoteSigner(name: "witness.example", privateKey: .init())
        let note = try witness.cosign(other.cosign(signer.sign(text)))
        #expect(note.signatures.count == 3)
        #expect(try note.verified(by: [signer.verifierKey]).keys == [signer.verifierKey])
        let both = try note.verified(by: [witness.verifierKey, signer.verifierKey])
        #expect(both.keys == [signer.verifierKey, witness.verifierKey])
        #expect(throws: NoteFault(.noKnownSignature, "")) { try note.verified(by: []) }
    }

    @Test func `one wrong signature of a known key refuses the note`() throws {
        let good = try signer.sign(text)
        let witness = try NoteSigner(name: "witness.example", privateKey: .init())
        var wrong = try witness.sign(text).signatures[0]
        wrong.bytes[7] ^= 1
        let note = try SignedNote(text: text, signatures: good.signatures + [wrong])
        _ = try note.verified(by: [signer.verifierKey])
        #expect(throws: NoteFault(.invalidSignature, "")) {
            try note.verified(by: [signer.verifierKey, witness.verifierKey])
        }
    }

    // schemas/problem.schema.json: `code`
    @Test func `a fault has a word that a problem object may have`() {
        for code in NoteFault.Code.allCases {
            #expect(code.rawValue.wholeMatch(of: /[a-z_]+/) != nil, "\(code)")
        }
    }

    @Test func `notes above the limits are refused`() throws {
        let signature = try signer.sign(text).signatures[0]
        let many = Array(repeating: signature, count: SignedNote.signatureLimit)
        _ = try SignedNote(text: text, signatures: many)
        #expect(throws: NoteFault(.tooLarge, "")) {
            try SignedNote(text: text, signatures: many + [signature])
        }
        let long = String(repeating: "a", count: SignedNote.byteLimit) + "\n"
        #expect(throws: NoteFault(.tooLarge, "")) { try signer.sign(long) }
    }

    @Test(arguments: ["", "no newline", "a\u{1}\n", "a\r\n", "a\n\n\u{2014} x"])
    func `a text that would not come back is not signed`(text: String) {
        #expect(throws: NoteFault(.malformedNote, "")) { try signer.sign(text) }
    }

    @Test(arguments: ["", "two words", "a+b", "line\n", "wide\u{3000}space", "a\u{85}b"])
    func `a name with a space or a plus is refused`(name: String) {
        #expect(throws: NoteFault(.malformedKey, "")) {
            try NoteSigner(name: name, privateKey: .init())
        }
    }

    @Test(arguments: [
        "", "\n", "\n\n", "\n\n\n", "text\n", "text\n\n", "text\n\n\n",
        "text\n\n- name AAAAAAA=\n", "text\n\n\u{2014} name AAAAAA==\n",
        "text\n\n\u{2014} name AAAAAAA\n", "text\n\n\u{2014}  AAAAAAA=\n",
        "text\n\n\u{2014} name AAAAAAA=", "text\n\n\u{2014} name AAAAAAA=\nmore\n",
        "text\n\n\u{2014} name AAAAAAA= \n", "\u{2014} name AAAAAAA=\n",
    ])
    func `what is not a note is refused`(note: String) {
        #expect(throws: NoteFault(.malformedNote, "")) { try SignedNote.parse(note) }
    }

    @Test func `a checkpoint reads what it writes and passes over extensions`() throws {
        let checkpoint = Checkpoint(
            origin: "ledger.example/test",
            size: 0,
            root: TreeHash.emptyRoot
        )
        #expect(checkpoint.text == text)
        #expect(try Checkpoint(parsing: text) == checkpoint)
        #expect(try Checkpoint(parsing: text + "an extension\nanother\n") == checkpoint)
        let verified = try signer.sign(text).verified(by: [signer.verifierKey])
        #expect(try Checkpoint(verified) == checkpoint)
    }

    @Test(arguments: [
        "", "\n", "o\n", "o\n1\n", "o\n1\nROOT", "\n1\nROOT\n", "o\n\nROOT\n", "o\n01\nROOT\n",
        "o\n-1\nROOT\n", "o\n+1\nROOT\n", "o\n1 \nROOT\n", "o\n18446744073709551616\nROOT\n",
        "o\n1\nAAAA\n", "o\n1\nROOT\n\n", "o\n1\nROOT\n\nx\n", "o\n\u{661}\nROOT\n",
        "o\r\n1\nROOT\n",
    ])
    func `what is not a checkpoint is refused`(text: String) {
        let text = text.replacing("ROOT", with: TreeHash.emptyRoot.base64)
        #expect(throws: NoteFault(.malformedCheckpoint, "")) { try Checkpoint(parsing: text) }
    }
}
