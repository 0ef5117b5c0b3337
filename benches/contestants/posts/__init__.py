"""The application of Django whose posts django-activity-stream shows."""
