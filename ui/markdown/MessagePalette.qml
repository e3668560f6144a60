// The colours of a shown message. `dark` chooses the defaults; each colour may be set by itself.
import QtQuick

QtObject {
    property bool dark: true

    property color text: dark ? "#e8eaed" : "#1b1d21"
    property color mutedText: dark ? "#8a919c" : "#6a7078"
    property color link: dark ? "#6aa6ff" : "#1a5fd6"
    property color border: dark ? "#2d3138" : "#dcdcd9"
    property color codeBackground: dark ? "#101215" : "#f3f3f1"
    property color codeText: dark ? "#dfe2e7" : "#1b1d21"
    property color inlineCodeBackground: dark ? "#262b32" : "#e9e9e6"
    property color quoteBar: dark ? "#3a414b" : "#cfcfca"
    property color selection: dark ? "#2f5fae" : "#b5d0fb"
    property color selectedText: dark ? "#ffffff" : "#10141a"
    property color focus: dark ? "#5c9bff" : "#1d6cf0"
    property color hover: dark ? "#22272e" : "#e7e7e4"

    property color syntaxKeyword: dark ? "#c792ea" : "#8431b3"
    property color syntaxType: dark ? "#7fb4ff" : "#1b5fc1"
    property color syntaxString: dark ? "#8fce9b" : "#1d7a35"
    property color syntaxNumber: dark ? "#f2a97e" : "#b0500f"
    property color syntaxComment: dark ? "#818a97" : "#6b7280"
    property color syntaxFunction: dark ? "#62cbd8" : "#0b7285"

    // By the number of TokenOrigin; the first is not drawn.
    property list<color> origins: dark
        ? ["transparent", "#21385a", "#54262b", "#382e54", "#1f4436", "#4a3b1c", "#4a2a3c", "#1d4148", "#333840"]
        : ["transparent", "#cfdff5", "#f6d3d3", "#dfd9ee", "#cfe9db", "#f1e4c2", "#f2d6e4", "#cde9ed", "#dfe2e6"]
}
