// The look of the whole window: colours of the light and the dark theme, text sizes and the 8-pixel rhythm.
// Main.qml sets `choice`, `systemDark` and `textScale`; everything else only reads.
pragma Singleton

import QtQuick

QtObject {
    // 0: as the system, 1: light, 2: dark (the numbers of AppSettings.Theme).
    property int choice: 0
    property bool systemDark: false
    property real textScale: 1.0

    readonly property bool dark: choice === 2 || (choice === 0 && systemDark)

    readonly property color window: dark ? "#14161a" : "#fbfbfa"
    readonly property color panel: dark ? "#1a1d22" : "#f3f3f1"
    readonly property color raised: dark ? "#22262d" : "#ffffff"
    readonly property color sunken: dark ? "#101216" : "#f4f4f2"
    readonly property color hover: dark ? "#242932" : "#e9e9e6"
    readonly property color pressed: dark ? "#2c323c" : "#dededa"
    readonly property color line: dark ? "#2c3139" : "#e1e1de"
    readonly property color control: dark ? "#3a404a" : "#c9c9c4"

    readonly property color text: dark ? "#e9ebee" : "#1b1c1e"
    readonly property color muted: dark ? "#a3a9b3" : "#55595f"
    readonly property color faint: dark ? "#8a919c" : "#5f646b"

    readonly property color accent: dark ? "#5b9dff" : "#1f6feb"
    // Filled buttons carry white words, and words in the accent colour stand on every surface: both keep a
    // contrast of 4.5 to 1.
    readonly property color accentFill: dark ? "#2f6fe0" : "#1f6feb"
    readonly property color accentHover: dark ? "#2a65cf" : "#1a5fd0"
    readonly property color accentInk: dark ? "#74acff" : "#1a5fd0"
    readonly property color accentText: "#ffffff"
    readonly property color accentSoft: dark ? "#1e3352" : "#e3edfd"
    readonly property color focus: accent
    readonly property color good: dark ? "#4cc38a" : "#18794e"
    readonly property color warning: dark ? "#f0b45b" : "#8a5300"
    readonly property color warningSoft: dark ? "#33291a" : "#fdf3e1"
    readonly property color danger: dark ? "#ff7b72" : "#c62a2f"
    readonly property color dangerSoft: dark ? "#3a1f21" : "#fdecec"

    // By TokenOrigin's number: the legend's squares, and the tint behind the text.
    readonly property var originMarks: dark
        ? ["#2c3139", "#3f6fb5", "#b5504a", "#7a5fb8", "#2f8a63", "#a8842f", "#a8577f", "#3d8b99", "#6d7480"]
        : ["#d9d9d5", "#9fc2f2", "#f0a8a4", "#c9b8ee", "#9fd8b8", "#e8d08c", "#eab0cd", "#9fd5de", "#bcc3cc"]
    readonly property var originTints: dark
        ? ["transparent", "#223552", "#4a2528", "#382f54", "#1f4436", "#4a3b1c", "#4a2a3c", "#1d4148", "#333840"]
        : ["transparent", "#d4e1f2", "#f6d9d8", "#e3ddf0", "#d3ebde", "#f3e8c8", "#f4dbe7", "#d3ebef", "#e1e4e8"]

    readonly property string family: "Inter"
    readonly property string codeFamily: "JetBrains Mono"

    readonly property real tiny: 11 * textScale
    readonly property real small: 12 * textScale
    readonly property real medium: 13 * textScale
    readonly property real body: 14 * textScale
    readonly property real title: 16 * textScale
    readonly property real large: 22 * textScale

    readonly property int radius: 10
    readonly property int column: 760 // the widest a line of an answer gets
    readonly property int quick: 120  // milliseconds of a small transition
}
