"""What a recording shows, found without Streamlit or Plotly."""
