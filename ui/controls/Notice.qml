// A strip that says something in one sentence, with an action and a way to close it.
import QtQuick
import QtQuick.Layouts
import Tandem.Controls
import Tandem.Theme

Rectangle {
    id: notice

    required property string text
    property string kind: "info" // "info", "warning" or "danger"
    property string actionText
    property bool closable: true
    readonly property color ink: kind === "danger" ? Theme.danger : kind === "warning" ? Theme.warning : Theme.accent

    signal action
    signal closed

    implicitHeight: row.implicitHeight + 14
    radius: Theme.radius
    color: kind === "danger" ? Theme.dangerSoft : kind === "warning" ? Theme.warningSoft : Theme.accentSoft
    Accessible.role: Accessible.AlertMessage
    Accessible.name: text

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: 14
        anchors.rightMargin: 8
        spacing: 10
        Icon {
            Layout.alignment: Qt.AlignVCenter
            name: notice.kind === "info" ? "info" : "warning"
            color: notice.ink
        }
        TextLabel {
            Layout.fillWidth: true
            text: notice.text
            wrapMode: Text.Wrap
            maximumLineCount: 6
            elide: Text.ElideRight
        }
        TextButton {
            visible: notice.actionText.length > 0
            label: notice.actionText
            accent: true
            onClicked: notice.action()
        }
        IconButton {
            visible: notice.closable
            name: qsTr("Dismiss")
            iconName: "close"
            iconSize: 14
            onClicked: notice.closed()
        }
    }
}
