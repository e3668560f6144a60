// The window's only plain text element: never marked up, whatever a model or a file name holds.
import QtQuick
import Tandem.Theme

Text {
    textFormat: Text.PlainText
    color: Theme.text
    font.family: Theme.family
    font.pixelSize: Theme.medium
    Accessible.role: Accessible.StaticText
    Accessible.name: text
}
