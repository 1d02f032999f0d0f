import Encodings
import Entitlements
import Foundation
import ModelSupport
import Testing

@testable import LedgerServer

struct `A key file` {
    @Test func `reads what it wrote`() throws {
        let keys = [
            APIKey.sample(1).key, APIKey.sample(2, name: "ci \"x\" 日本", scopes: [.admin]).key,
            APIKey.sample(3, scopes: ScopeSet(Scope.allCases), expiresAt: noon).key,
        ]
        for count in 0...keys.count {
            let file = KeyFile.holding(Array(keys.prefix(count)))
            #expect(try KeyFile(parsing: file.bytes) == file)
        }
    }

    // row 9.4: what is stolen with the file opens nothing
    @Test func `does not hold the secret`() throws {
        let (key, text) = APIKey.sample(1)
        let written = String(decoding: KeyFile.holding([key]).bytes, as: UTF8.self)
        let secret = String(text.suffix(43))
        #expect(written.contains(key.id))
        #expect(!written.contains(secret))
    }

    @Test func `has keys that a secret scanner recognises`() throws {
        let form = /el_[a-z0-9]{12}_[A-Za-z0-9_-]{43}/
        var texts = Set<String>()
        for seed in 0..<200 {
            let (key, text) = APIKey.sample(UInt64(seed))
            #expect(text.wholeMatch(of: form) != nil, "\(text)")
            #expect(text.dropFirst(3).hasPrefix(key.id))
            texts.insert(text)
        }
        #expect(texts.count == 200)
    }

    @Test func `holds a limited number of keys`() {
        var file = KeyFile()
        for seed in 0..<UInt64(KeyFile.keyLimit) {
            let isAdded = file.add(APIKey.sample(seed).key)
            #expect(isAdded)
        }
        var outcomes = [file.add(APIKey.sample(5000).key)]
        #expect(file.bytes.count < KeyFile.byteLimit / 2)
        outcomes.append(file.revoke(file.keys[7].id))
        outcomes.append(file.add(APIKey.sample(5000).key))
        #expect(outcomes == [false, true, true])
    }

    @Test func `gives up a key once`() {
        var file = KeyFile.holding([APIKey.sample(1).key, APIKey.sample(2).key])
        let id = APIKey.sample(1).key.id
        let outcomes = [file.revoke("none"), file.revoke(id), file.revoke(id)]
        #expect(outcomes == [false, true, false])
        #expect(file.keys == [APIKey.sample(2).key])
    }

    /// Each line is what stands in a good file and what is put in its place.
    static let damages: [(String, String)] = [
        (#"{"format""#, #"["format""#), (#""format":1"#, #""format":2"#),
        (#""format":1"#, #""format":"1""#), (#""keys":["#, #""keys":null,"more":["#),
        (#"{"format":1,"#, #"{"format":1,"format":1,"#), (#""format":1,"#, ""),
        (#"{"format":1,"#, #"{"format":1,"more":1,"#),
        (#""scopes":["read"]"#, #""scopes":[]"#), (#""scopes":["read"]"#, #""scopes":["root"]"#),
        (#""scopes":["read"]"#, #""scopes":["read",1]"#),
        (#""scopes":["read"]"#, #""scopes":"read""#),
        (#""name":null"#, #""name":"""#), (#""name":null"#, #""name":1"#),
        (#""name":null"#, #""name":"a\nb""#), (#""name":null,"#, ""),
        (#""name":null"#, #""name":null,"onlyFrom":"10.0.0.0/8""#),
        (#""expiresAt":null"#, #""expiresAt":"soon""#), (#""expiresAt":null"#, #""expiresAt":0"#),
        (#""createdAt":"2026"#, #""createdAt":"26"#), (#""digest":""#, #""digest":"A"#),
        (#""digest":""#, #""digest":"="#), (#""id":""#, #""id":"A"#), (#""id":""#, #""id":"_"#),
        ("\n", "\n{}"),
    ]

    @Test(arguments: damages)
    func `is refused whole where it is damaged`(_ found: String, _ put: String) throws {
        let good = String(decoding: KeyFile.holding([APIKey.sample(1).key]).bytes, as: UTF8.self)
        #expect(try KeyFile(parsing: Array(good.utf8)).keys.count == 1)
        try #require(good.contains(found))
        let bad = good.replacingOccurrences(of: found, with: put)
        #expect(throws: InputFault.self) { try KeyFile(parsing: Array(bad.utf8)) }
    }

    @Test func `is refused with two keys of one id, too many or too many bytes`() throws {
        let one = String(decoding: KeyFile.holding([APIKey.sample(1).key]).bytes, as: UTF8.self)
        let key = try #require(one.firstMatch(of: /\{"id".*?\}/)).output
        func file(_ count: Int) -> [UInt8] {
            let keys = Array(repeating: String(key), count: count).joined(separator: ",")
            return Array(#"{"format":1,"keys":[\#(keys)]}"#.utf8)
        }
        #expect(try KeyFile(parsing: file(1)).keys.count == 1)
        #expect(throws: InputFault(.malformed, "", "key 1 has the id of another")) {
            try KeyFile(parsing: file(2))
        }
        #expect(throws: InputFault(.malformed, "", "it has too many keys")) {
            try KeyFile(parsing: file(1001))
        }
        let space = [UInt8](repeating: 0x20, count: KeyFile.byteLimit)
        #expect(throws: InputFault(.malformed, "", "it is too large")) {
            try KeyFile(parsing: file(1) + space)
        }
    }

    @Test func `is read without a trap whatever is in it`() throws {
        var random = SplitMix64(seed: 3)
        let keys = [APIKey.sample(1).key, APIKey.sample(2, name: "a", expiresAt: noon).key]
        let good = KeyFile.holding(keys).bytes
        var refused = 0
        for _ in 0..<5_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { break }
            }
            do { _ = try KeyFile(parsing: bytes) } catch { refused += 1 }
        }
        #expect(refused > 4_000)
    }
}

struct `A key ring` {
    // row 9.4
    @Test func `has no key without a file, and those of a file that turns up`() async throws {
        try await KeyFolder.with { folder in
            let ring = try folder.ring()
            let (key, _) = APIKey.sample(1)
            #expect(ring.key(key.id, at: noon) == nil)
            try folder.write([key])
            #expect(ring.key(key.id, at: noon.plus(seconds: 1)) == key)
        }
    }

    @Test func `lets go of a key within a second of its revocation`() async throws {
        try await KeyFolder.with { folder in
            let (one, two) = (APIKey.sample(1).key, APIKey.sample(2).key)
            try folder.write([one, two])
            let ring = try folder.ring()
            try folder.write([two])
            #expect(ring.key(one.id, at: noon.advanced(byMilliseconds: 999)) == one)
            #expect(ring.key(one.id, at: noon.plus(seconds: 1)) == nil)
            #expect(ring.key(two.id, at: noon.plus(seconds: 1)) == two)
            try FileManager.default.removeItem(at: folder.file)
            #expect(ring.key(two.id, at: noon.plus(seconds: 2)) == nil)
        }
    }

    @Test func `looks at the file also after the clock was set back`() async throws {
        try await KeyFolder.with { folder in
            let key = APIKey.sample(1).key
            try folder.write([key])
            let ring = try folder.ring()
            try folder.write([])
            #expect(ring.key(key.id, at: noon.plus(seconds: -86_400)) == nil)
            try folder.write([key])
            #expect(ring.key(key.id, at: Instant(milliseconds: .min)) == key)
            try folder.write([])
            #expect(ring.key(key.id, at: Instant(milliseconds: .max)) == nil)
        }
    }

    @Test func `keeps its keys and says so once while the file is damaged`() async throws {
        try await KeyFolder.with { folder in
            let faults = FaultLog()
            let key = APIKey.sample(1).key
            try folder.write([key])
            let ring = try folder.ring(faults)
            try folder.write(bytes: Array("{".utf8))
            for second in 1...5 {
                #expect(ring.key(key.id, at: noon.plus(seconds: Int64(second))) == key)
            }
            #expect(ring.fault != nil)
            #expect(faults.count == 1)
            try folder.write([])
            #expect(ring.key(key.id, at: noon.plus(seconds: 6)) == nil)
            #expect(ring.fault == nil)
            #expect(faults.count == 1)
        }
    }

    @Test func `does not begin with a damaged file`() async throws {
        try await KeyFolder.with { folder in
            try folder.write(bytes: Array("{".utf8))
            #expect(throws: InputFault.self) { try folder.ring() }
            try folder.write([])
            #expect(throws: Never.self) { try folder.ring() }
        }
    }

    @Test func `is asked by many while its file changes`() async throws {
        try await KeyFolder.with { folder in
            let (stays, goes) = (APIKey.sample(1).key, APIKey.sample(2).key)
            try folder.write([stays, goes])
            let ring = try folder.ring()
            let missing = await withTaskGroup(of: Int.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        (0..<2_000).count { step in
                            let now = noon.plus(seconds: Int64(step))
                            if task == 0, step.isMultiple(of: 20) {
                                try? folder.write(
                                    step.isMultiple(of: 40) ? [stays] : [stays, goes]
                                )
                            }
                            return ring.key(stays.id, at: now) == nil
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(missing == 0)
            try folder.write([stays])
            #expect(ring.key(goes.id, at: noon.plus(seconds: 10_000)) == nil)
        }
    }
}
