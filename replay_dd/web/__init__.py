"""Web sessions: user flows of the Chrome DevTools Recorder, played in a browser and made small."""
