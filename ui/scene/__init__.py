"""The scene of a view: pictures of its steps, packed, and the component that shows them."""
