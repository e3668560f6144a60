// The views of the program, at the window's left edge.
import QtQuick
import Tandem.Theme

Rectangle {
    id: rail

    // "chat", "caches", "models" or "settings".
    property string current: "chat"

    signal chosen(view: string)

    implicitWidth: 76
    color: Theme.panel
    Accessible.role: Accessible.PageTabList
    Accessible.name: qsTr("Views")

    RailButton {
        objectName: "railChat"
        anchors.horizontalCenter: parent.horizontalCenter
        y: 14
        label: qsTr("Chat")
        iconName: "chat"
        keys: qsTr("Ctrl+1")
        current: rail.current === "chat"
        onClicked: rail.chosen("chat")
    }
    Column {
        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: 12
        spacing: 8
        RailButton {
            objectName: "railCaches"
            label: qsTr("Caches")
            iconName: "caches"
            keys: qsTr("Ctrl+4")
            current: rail.current === "caches"
            onClicked: rail.chosen("caches")
        }
        RailButton {
            objectName: "railModels"
            label: qsTr("Models")
            iconName: "models"
            keys: qsTr("Ctrl+2")
            current: rail.current === "models"
            onClicked: rail.chosen("models")
        }
        RailButton {
            objectName: "railSettings"
            label: qsTr("Settings")
            iconName: "settings"
            keys: qsTr("Ctrl+,")
            current: rail.current === "settings"
            onClicked: rail.chosen("settings")
        }
    }
    Rectangle {
        anchors.right: parent.right
        width: 1
        height: parent.height
        color: Theme.line
    }
}
