"""Every sentence that levelbest says about results."""
