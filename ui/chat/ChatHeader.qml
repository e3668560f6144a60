// Title, model, exactness and the context meter.
import QtQuick
import QtQuick.Layouts
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

Item {
    id: header

    required property Session session
    property bool panelOpen: false
    readonly property Chat chat: session.chat
    readonly property ModelLibrary models: session.models

    signal modelsWanted
    signal panelToggled

    implicitHeight: Math.max(57, row.implicitHeight + 20)

    RowLayout {
        id: row
        anchors.fill: parent
        anchors.leftMargin: 28
        anchors.rightMargin: 20
        spacing: 10

        Item {
            id: left
            readonly property real chips: modelChip.width + (exactChip.visible ? exactChip.width + 10 : 0) + 10
            Layout.fillWidth: true
            Layout.fillHeight: true
            TextLabel {
                id: title
                objectName: "chatTitle"
                anchors.verticalCenter: parent.verticalCenter
                width: Math.max(60, Math.min(implicitWidth, left.width - left.chips))
                text: header.chat.title
                elide: Text.ElideRight
                font.pixelSize: Theme.title
                font.weight: Font.DemiBold
                Accessible.role: Accessible.Heading
            }
            Chip {
                id: modelChip
                objectName: "modelChip"
                anchors.left: title.right
                anchors.leftMargin: 10
                anchors.verticalCenter: parent.verticalCenter
                widest: Math.max(80, Math.min(260, left.width * 0.5))
                label: header.models.loading ? qsTr("Loading %1 %").arg(Math.round(header.models.progress * 100))
                                             : header.models.ready ? header.models.label : qsTr("No model")
                name: qsTr("Model: %1").arg(label)
                tip: header.models.ready ? header.models.details : qsTr("Choose a model")
                onClicked: header.modelsWanted()
            }
            Chip {
                id: exactChip
                objectName: "exactChip"
                anchors.left: modelChip.right
                anchors.leftMargin: 10
                anchors.verticalCenter: parent.verticalCenter
                visible: header.models.ready && left.width > 340
                actionable: false
                label: qsTr("exact")
                ink: Theme.good
                name: qsTr("Exact")
                tip: header.chat.speculation
                     ? qsTr("Drafted tokens are kept only where the model itself would have written them: the text is the same as without drafting.")
                     : qsTr("Every token is the model's own step: drafting is off.")
            }
        }
        TextLabel {
            objectName: "contextText"
            visible: header.models.ready && header.chat.contextUsed >= 0
            text: qsTr("%1 of %2").arg(Number(header.chat.contextUsed).toLocaleString(Qt.locale(), "f", 0))
                                  .arg(Number(header.models.contextLength).toLocaleString(Qt.locale(), "f", 0))
            color: Theme.muted
            font.pixelSize: Theme.small
            Accessible.name: qsTr("Context: %1 tokens").arg(text)
        }
        Meter {
            Layout.preferredWidth: 110
            visible: header.models.ready && header.chat.contextUsed >= 0 && header.width > 620
            name: qsTr("Context used")
            value: header.models.contextLength > 0 ? header.chat.contextUsed / header.models.contextLength : 0
            after: header.models.contextLength > 0 ? header.chat.afterSending / header.models.contextLength : 0
        }
        IconButton {
            objectName: "tintToggle"
            checked: header.session.settings.tintOrigins
            name: checked ? qsTr("Hide where each token came from") : qsTr("Show where each token came from")
            iconName: "tint"
            iconColor: checked ? Theme.accent : hovered ? Theme.text : Theme.muted
            onClicked: header.session.settings.tintOrigins = !header.session.settings.tintOrigins
        }
        IconButton {
            objectName: "panelToggle"
            checked: header.panelOpen
            name: qsTr("System prompt and sampling")
            iconName: "tune"
            iconColor: checked ? Theme.accent : hovered ? Theme.text : Theme.muted
            onClicked: header.panelToggled()
        }
    }
    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }
}
