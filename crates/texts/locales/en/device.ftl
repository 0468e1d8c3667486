# Connecting a device by the code that it shows.

device-title = Connect a device
device-enter = Enter the code that your device shows.
device-code = Code
device-unknown = No device is waiting with this code. Check it, or get a new one on the device.
device-confirm = Connect { $client }?
device-check = Go on only if you hold the device, and it shows this code:
device-done-title = Device connected
device-done = Go back to your device.
device-refused-title = Not connected
device-refused = The device was refused.
