import EventLog
import Testing

// row Z4: C2SP tlog-tiles

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence))
struct TilePathTests {
    private struct Paths: Decodable {
        struct TilePath: Decodable {
            var level: Int
            var index: UInt64
            var width: Int
            var path: String
        }
        struct EntryPath: Decodable {
            var seq: UInt64
            var size: UInt64
            var path: String
        }
        struct Count: Decodable {
            var full: UInt64
            var partialWidth: Int
        }
        var tilePaths: [TilePath]
        var entryPaths: [EntryPath]
        var tilesOfSize: [String: [String: Count]]
    }

    private let paths: Paths

    init() throws {
        paths = try Vectors.json("tlog-tiles/paths.json")
    }

    @Test func `a tile is where C2SP puts it`() {
        for row in paths.tilePaths {
            let tile = TileCoordinate(level: row.level, index: row.index, width: row.width)
            #expect(tile.path == row.path)
            // No tree of 64-bit size has a level above the seventh.
            guard row.level <= 7 else { continue }
            let place = row.path.split(separator: "/", maxSplits: 2)[2]
            #expect(TileCoordinate(level: row.level, place: String(place)) == tile)
        }
        #expect(paths.tilePaths.count == 6)
    }

    @Test func `a bundle is where C2SP puts it`() {
        for row in paths.entryPaths {
            let index = row.seq / 256
            let width = TileCoordinate.width(level: 0, index: index, size: row.size)
            #expect(TileCoordinate.entriesPath(index: index, width: width) == row.path)
        }
        #expect(paths.entryPaths.count == 6)
    }

    @Test func `a tree has as many tiles as C2SP counts`() throws {
        for (text, levels) in paths.tilesOfSize {
            let size = try #require(UInt64(text))
            for (level, count) in levels {
                let level = try #require(Int(level))
                let partial = TileCoordinate.partialTiles(size: size).first { $0.level == level }
                #expect(partial?.width ?? 0 == count.partialWidth, "size \(size), level \(level)")
                if count.full > 0 {
                    let last = count.full - 1
                    #expect(TileCoordinate.width(level: level, index: last, size: size) == 256)
                }
                let next = TileCoordinate.width(level: level, index: count.full, size: size)
                #expect(next == count.partialWidth)
            }
        }
    }

    @Test(arguments: [
        "", "/", "1", "0001", "x000/001", "001/", "001.p", "001.p/", "001.p/0", "001.p/256",
        "001.p/01",
        "001.p/-1", "x001", "001/002", "x1/002", "x001/x002", "001.q/3", "+01", "x+01/002", "0x1",
        "x999/x999/x999/x999/x999/x999/999", "٣٤٥",
    ])
    func `a place that is written otherwise is none`(place: String) {
        #expect(TileCoordinate(level: 0, place: place) == nil)
    }
}

/// Paths as anybody may send them.
struct `A tile's place from outside` {
    // One such path ended the server: a group of more than three digits was multiplied by 1000.
    @Test(arguments: [
        "x18446744073709551615/000", "x18446744073709551615/x999/999", "18446744073709551615",
        "x000000000000000000001/000", "x001/18446744073709551615", "x1/000", "x0001/000",
        "x+01/000",
        "x-01/000", "000.p/18446744073709551616", "000.p/-1", "000.p/+1", "", ".p/1", "x/000",
        "x001/x001/x001/x001/x001/x001/001",
    ])
    func `has one way to be written`(place: String) {
        #expect(TileCoordinate(level: 0, place: place) == nil)
    }

    @Test func `may be the largest that can be written`() throws {
        let place = "x999/x999/x999/x999/x999/999"
        let tile = try #require(TileCoordinate(level: 7, place: place))
        #expect(tile.index == 999_999_999_999_999_999)
        #expect(TileCoordinate.width(level: 7, index: tile.index, size: .max) == 0)
    }
}
