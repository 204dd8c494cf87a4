"""Speed of finite elements beside joints."""
