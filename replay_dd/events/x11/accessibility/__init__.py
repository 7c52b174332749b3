"""What toolkits tell assistive technologies of their widgets: GTK, wxGTK and Qt."""
