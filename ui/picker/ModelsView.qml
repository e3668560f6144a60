// The model files on disk, the one that is loaded, and a way to open another.
pragma ComponentBehavior: Bound

import QtQuick
import QtQuick.Templates as T
import Tandem.Controls
import Tandem.Models
import Tandem.Theme

FocusScope {
    id: view

    required property ModelLibrary models

    signal done

    function openPath() {
        models.load(pathField.text);
    }

    Flickable {
        id: flick
        anchors.fill: parent
        contentHeight: column.height + 72
        boundsBehavior: Flickable.StopAtBounds
        T.ScrollBar.vertical: ScrollHandle {}

        Column {
            id: column
            anchors.horizontalCenter: parent.horizontalCenter
            y: 36
            width: Math.min(Theme.column, flick.width - 56)
            spacing: 14

            TextLabel {
                text: qsTr("Models")
                font.pixelSize: Theme.large
                font.weight: Font.DemiBold
                Accessible.role: Accessible.Heading
            }
            TextLabel {
                width: parent.width
                wrapMode: Text.Wrap
                text: qsTr("GGUF files in %1. Opening another one stops answers that are being written; what they have so far is kept.").arg(view.models.folder)
                color: Theme.muted
            }
            Notice {
                objectName: "loadProblem"
                width: parent.width
                visible: view.models.problem.length > 0
                kind: "danger"
                text: view.models.ready ? qsTr("%1 %2 stays open.").arg(view.models.problem).arg(view.models.name)
                                        : view.models.problem
                onClosed: view.models.dismissProblem()
            }
            LoadedModel {
                width: parent.width
                models: view.models
                onDone: view.done()
            }
            Repeater {
                model: view.models
                ModelRow {
                    width: column.width
                    progress: view.models.progress
                    onChosen: view.models.load(path)
                }
            }
            TextLabel {
                width: parent.width
                visible: view.models.count === 0
                wrapMode: Text.Wrap
                text: qsTr("There is no model in this folder yet. Put a GGUF file there, or open one from anywhere on this machine.")
                color: Theme.muted
            }
            FieldTitle {
                text: qsTr("Open a file from elsewhere: type its path, or drop it here")
            }
            Item {
                width: parent.width
                height: pathField.height
                LineField {
                    id: pathField
                    objectName: "modelPathField"
                    anchors.left: parent.left
                    anchors.right: openButton.left
                    anchors.rightMargin: 8
                    focus: true
                    name: qsTr("Path of a GGUF file")
                    hint: qsTr("/path/to/model.gguf")
                    onAccepted: view.openPath()
                }
                TextButton {
                    id: openButton
                    objectName: "openPathButton"
                    anchors.right: parent.right
                    height: parent.height
                    strong: true
                    enabled: pathField.text.trim().length > 0
                    label: qsTr("Open")
                    size: Theme.medium
                    onClicked: view.openPath()
                }
            }
        }
    }
    DropArea {
        anchors.fill: parent
        keys: ["text/uri-list"]
        onDropped: drop => {
            if (drop.hasUrls)
                view.models.load(drop.urls[0].toString());
        }
    }
}
