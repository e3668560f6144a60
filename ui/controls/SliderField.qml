// A number chosen by sliding, with its value written beside it.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

Item {
    id: control

    required property string name
    property alias from: slider.from
    property alias to: slider.to
    property alias stepSize: slider.stepSize
    property alias value: slider.value
    property int decimals: 2
    property string zeroText // written instead of the number at 0
    property string fullText // and at 1
    property string unit

    signal moved(real value)

    implicitWidth: 260
    implicitHeight: 32

    T.Slider {
        id: slider
        anchors.left: parent.left
        anchors.right: written.left
        anchors.rightMargin: 12
        height: parent.height
        focusPolicy: Qt.StrongFocus
        snapMode: T.Slider.SnapAlways
        hoverEnabled: true
        Accessible.name: control.name
        Accessible.role: Accessible.Slider
        onMoved: control.moved(value)

        background: Rectangle {
            y: (slider.height - height) / 2
            width: slider.width
            height: 4
            radius: 2
            color: Theme.line
            Rectangle {
                width: slider.visualPosition * parent.width
                height: parent.height
                radius: 2
                color: Theme.accent
            }
        }
        handle: Rectangle {
            x: slider.visualPosition * (slider.width - width)
            y: (slider.height - height) / 2
            width: 16
            height: 16
            radius: 8
            color: Theme.dark ? "#e9ebee" : "#ffffff"
            border.width: Theme.dark ? 0 : 1
            border.color: Theme.control
            FocusRing {
                target: slider
                shown: slider.visualFocus
                gap: 3
                radius: 11
            }
        }
    }
    TextLabel {
        id: written
        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        width: 64 * Theme.textScale
        horizontalAlignment: Text.AlignRight
        text: slider.value === 0 && control.zeroText.length > 0 ? control.zeroText
              : slider.value === 1 && control.fullText.length > 0 ? control.fullText
              : Number(slider.value).toLocaleString(Qt.locale(), "f", control.decimals) + control.unit
        color: Theme.muted
        font.pixelSize: Theme.small
    }
}
