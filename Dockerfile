# The app in a container, and a cluster's scheduler and workers, as compose.yaml runs them. The target
# "gpu" has CuPy with its compiler and cuBLAS too, for a machine with NVIDIA's driver and container
# toolkit.
FROM python:3.13-slim AS base
ENV PYTHONUNBUFFERED=1
RUN useradd --create-home --uid 10001 tilewise
WORKDIR /tilewise
COPY requirements.txt requirements-cluster.txt ./
RUN sed '/^cupy/d' requirements.txt > /tmp/app.txt \
    && pip install --no-cache-dir --requirement /tmp/app.txt \
        --requirement requirements-cluster.txt \
    && rm /tmp/app.txt
COPY . .
# The app's user cannot write here: compiled once, the app starts sooner each time.
RUN python -m compileall -q app.py compiler gpu simulator ui
USER 10001
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=30s --start-period=60s \
    CMD ["python", "-m", "ui.health", "http://127.0.0.1:8501"]
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address=0.0.0.0", \
    "--server.port=8501", "--server.headless=true"]

FROM base AS gpu
USER 0
RUN sed -n 's/^cupy-cuda12x/&[ctk]/p' requirements.txt > /tmp/gpu.txt \
    && pip install --no-cache-dir --requirement /tmp/gpu.txt \
    && rm /tmp/gpu.txt
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001

FROM base AS app
